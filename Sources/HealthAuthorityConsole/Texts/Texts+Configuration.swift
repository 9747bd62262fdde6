extension Texts {
  /// The texts of the pages about the remote configuration.
  static let configurationPhrases: [TextKey: Phrase] = [
    .configurationTitle: Phrase("Risk configuration", "Konfiguracja ryzyka"),
    .configurationCard: Phrase(
      "Propose, preview and approve changes.",
      "Proponowanie, podgląd i zatwierdzanie zmian."
    ),
    .configurationLead: Phrase(
      """
      All phones use this configuration after their next check. A change needs the approval of a second \
      person.
      """,
      "Wszystkie telefony użyją tej konfiguracji po następnym sprawdzeniu. Zmiana wymaga zgody drugiej osoby."
    ),
    .configurationCurrent: Phrase(
      "Configuration in force, version %1",
      "Obowiązująca konfiguracja, wersja %1"
    ),
    .configurationDocument: Phrase("Document", "Dokument"),
    .configurationReason: Phrase("Reason for the change", "Powód zmiany"),
    .configurationPreview: Phrase("Check and preview", "Sprawdź i pokaż skutek"),
    .configurationPropose: Phrase("Propose this change", "Zaproponuj tę zmianę"),
    .configurationPreviewTitle: Phrase("Effect of the change", "Skutek zmiany"),
    .configurationPreviewLead: Phrase(
      """
      The simulated contacts of last week, evaluated with the windowRiskConfiguration in force and with \
      the new one. Other parts do not change these numbers.
      """,
      """
      Symulowane kontakty z zeszłego tygodnia, ocenione obowiązującą i nową częścią \
      windowRiskConfiguration. Inne części nie zmieniają tych liczb.
      """
    ),
    .configurationEffectCaption: Phrase(
      "Risk levels before and after",
      "Poziomy ryzyka przed i po"
    ),
    .configurationCounted: Phrase("Counted", "Liczone"),
    .configurationWindows: Phrase("Contacts", "Kontakty"),
    .configurationDays: Phrase("Days of phones", "Dni telefonów"),
    .configurationNone: Phrase("no risk", "brak ryzyka"),
    .configurationLow: Phrase("low", "niskie"),
    .configurationHigh: Phrase("high", "wysokie"),
    .configurationBefore: Phrase("Before", "Przed"),
    .configurationAfter: Phrase("After", "Po"),
    .configurationChanges: Phrase("Changed lines", "Zmienione wiersze"),
    .configurationSame: Phrase(
      "The document is the one in force: nothing would change.",
      "Dokument jest taki sam jak obowiązujący: nic się nie zmieni."
    ),
    .configurationInvalid: Phrase(
      "The document is not valid: %1",
      "Dokument jest nieprawidłowy: %1"
    ),
    .configurationVersion: Phrase(
      "The document is not of version %1, which is in force: load the page again and repeat the change.",
      "Dokument nie ma obowiązującej wersji %1: wczytaj stronę ponownie i powtórz zmianę."
    ),
    .configurationNoReason: Phrase(
      "Give a reason: the second person decides by it.",
      "Podaj powód: druga osoba decyduje na jego podstawie."
    ),
    .configurationOpen: Phrase("Open proposals", "Otwarte propozycje"),
    .configurationNoOpen: Phrase("There is no open proposal.", "Nie ma otwartych propozycji."),
    .configurationBy: Phrase("Proposed by %1 at %2", "Zaproponował(a) %1, %2"),
    .configurationApprove: Phrase("Approve and put in force", "Zatwierdź i wprowadź"),
    .configurationReject: Phrase("Reject", "Odrzuć"),
    .configurationOwn: Phrase(
      "You proposed it: another person must decide.",
      "To Twoja propozycja: musi zdecydować inna osoba."
    ),
    .configurationRelated: Phrase(
      """
      An administrator made the link for this account and has the other account, or made the link for both, so \
      that one person could use both. A person whose account another administrator or the operator has added \
      must decide.
      """,
      """
      Administrator utworzył odnośnik dla tego konta i ma drugie konto albo utworzył odnośniki dla obu, więc \
      jedna osoba mogłaby używać obu kont. Musi zdecydować osoba, której konto dodał inny administrator lub \
      operator.
      """
    ),
    .configurationStale: Phrase(
      "The configuration was changed since: propose the change again.",
      "Konfiguracja zmieniła się w międzyczasie: zaproponuj zmianę ponownie."
    ),
    .configurationHistory: Phrase("History", "Historia"),
    .configurationHistoryCaption: Phrase(
      "Decided proposals, newest first",
      "Rozstrzygnięte propozycje od najnowszej"
    ),
    .configurationDecision: Phrase("Decision", "Decyzja"),
    .configurationApproved: Phrase("approved by %1", "zatwierdził(a) %1"),
    .configurationRejected: Phrase("rejected by %1", "odrzucił(a) %1"),
    .configurationProposed: Phrase(
      "The proposal waits for another person.",
      "Propozycja czeka na inną osobę."
    ),
    .configurationDone: Phrase("The configuration is in force.", "Konfiguracja obowiązuje."),
  ]
}
