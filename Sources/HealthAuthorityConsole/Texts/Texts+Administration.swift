// SPDX-License-Identifier: Apache-2.0
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
      The same contacts, evaluated with the configuration in force and with the new one, by the code of the app. \
      They are not those of users: their contacts and notices are on their phones only, and no server \
      can count them. Each phone uses one of the two versions, which its app has chosen.
      """,
      """
      Te same kontakty, ocenione obowiązującą i nową konfiguracją kodem aplikacji. Nie są to kontakty \
      użytkowników: ich kontakty i powiadomienia są tylko na ich telefonach i żaden serwer nie może ich \
      policzyć. Każdy telefon używa jednej z dwóch wersji, wybranej przez jego aplikację.
      """
    ),
    .configurationSimulated: Phrase("Simulated contacts", "Symulowane kontakty"),
    .configurationSimulatedLead: Phrase(
      """
      %1 simulated phones in a week, with meetings in households, at work, in vehicles and in queues in \
      fixed proportions.
      """,
      """
      %1 symulowanych telefonów w ciągu tygodnia, ze spotkaniami w gospodarstwach domowych, w pracy, w pojazdach \
      i w kolejkach, w stałych proporcjach.
      """
    ),
    .configurationRecorded: Phrase("Recorded contacts", "Nagrane kontakty"),
    .configurationRecordedLead: Phrase(
      """
      The exposure windows of a field trial that the operator has loaded. Phones: %1, each evaluated on the day after \
      its last window. A trial has other proportions of short and long contacts than everyday life.
      """,
      """
      Okna ekspozycji z próby terenowej, wczytane przez operatora. Telefony: %1, każdy oceniony w dniu po jego \
      ostatnim oknie. Próba ma inne proporcje krótkich i długich kontaktów niż codzienne życie.
      """
    ),
    .configurationNoRecording: Phrase(
      """
      There is no recording: the operator can load the exposure windows of a field trial with windowsFile in \
      console/settings.json.
      """,
      """
      Nie ma nagrania: operator może wczytać okna ekspozycji z próby terenowej ustawieniem windowsFile w \
      console/settings.json.
      """
    ),
    .configurationNotices: Phrase(
      "Phones that would show another notice: %1 of %2. Phones with a notice: %3 before, %4 after.",
      "Telefony, które pokazałyby inne powiadomienie: %1 z %2. Telefony z powiadomieniem: przed %3, po %4."
    ),
    .configurationPhones: Phrase(
      "Phones, by the level of their notice", "Telefony według poziomu powiadomienia"
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
    .configurationMedium: Phrase("moderate", "umiarkowane"),
    .configurationVersion1: Phrase(
      "Phones with version 1 (scores)", "Telefony z wersją 1 (wyniki punktowe)"
    ),
    .configurationVersion2: Phrase(
      "Phones with version 2 (exposure windows)", "Telefony z wersją 2 (okna ekspozycji)"
    ),
    .configurationDiffering: Phrase(
      "Days with another level than before: %1. Contacts with another level: %2.",
      "Dni z innym poziomem niż przedtem: %1. Kontakty z innym poziomem: %2."
    ),
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

  /// The texts of the pages about phones and keys.
  static let administrationPhrases: [TextKey: Phrase] = [
    .phonesTitle: Phrase("Phones", "Telefony"),
    .phonesCard: Phrase(
      "Pause all phones, withdraw a key file.",
      "Wstrzymanie telefonów, wycofanie pliku kluczy."
    ),
    .phonesLead: Phrase(
      "Phones follow these instructions at their next check. They are signed with the root key.",
      "Telefony wykonują te polecenia przy następnym sprawdzeniu. Podpisuje je klucz główny."
    ),
    .phonesPause: Phrase("Pause", "Wstrzymanie"),
    .phonesRunning: Phrase("Phones check and upload.", "Telefony sprawdzają i przesyłają."),
    .phonesPaused: Phrase(
      "Phones are paused until they are resumed.",
      "Telefony są wstrzymane do wznowienia."
    ),
    .phonesPausedUntil: Phrase("Phones are paused until %1.", "Telefony są wstrzymane do %1."),
    .phonesPauseHelp: Phrase(
      "Paused phones neither check nor upload. They lose nothing.",
      "Wstrzymane telefony nie sprawdzają i nie przesyłają. Niczego nie tracą."
    ),
    .phonesPauseHours: Phrase(
      "For hours (empty: until resumed)",
      "Na godzin (puste: do wznowienia)"
    ),
    .phonesPauseButton: Phrase("Continue", "Dalej"),
    .phonesResumeButton: Phrase("Continue: resume", "Dalej: wznów"),
    .phonesWithdraw: Phrase("Withdraw a key file", "Wycofaj plik kluczy"),
    .phonesWithdrawHelp: Phrase(
      """
      Phones ignore a withdrawn file and its copies in all exports, and undo the exposures found through them.
      """,
      "Telefony pomijają wycofany plik i jego kopie we wszystkich eksportach i cofają narażenia wykryte dzięki nim."
    ),
    .phonesChooseFile: Phrase(
      "Choose a file from the list of exports",
      "Wybierz plik z listy eksportów"
    ),
    .phonesNotListed: Phrase("no longer listed", "nie ma już na liście"),
    .phonesWithdrawButton: Phrase("Withdraw", "Wycofaj"),
    .phonesRestore: Phrase("Undo", "Cofnij"),
    .phonesWithdrawnCaption: Phrase("Withdrawn files", "Wycofane pliki"),
    .phonesBadHours: Phrase(
      "The hours must be a number from 1 to 720.",
      "Liczba godzin musi wynosić od 1 do 720."
    ),
    .phonesVersion: Phrase(
      "Version %1 of the instructions, accepted by new phones until %2",
      "Wersja %1 poleceń, przyjmowana przez nowe telefony do %2"
    ),
    .keysTitle: Phrase("Keys and apps", "Klucze i aplikacje"),
    .keysCard: Phrase(
      "Signing keys, API keys, authorities and apps.",
      "Klucze podpisu, klucze API, organy i aplikacje."
    ),
    .keysSigning: Phrase("Signing keys", "Klucze podpisu"),
    .keysOfVerification: Phrase("of tokens", "tokenów"),
    .keysOfKeys: Phrase("of key files", "plików kluczy"),
    .keysSigningCaption: Phrase("Signing keys %1", "Klucze podpisu %1"),
    .keysFrom: Phrase("Valid from", "Ważny od"),
    .keysUntil: Phrase("Valid until", "Ważny do"),
    .keysRotate: Phrase("Rotate", "Wymień"),
    .keysRotateHelp: Phrase(
      """
      A new key begins, and the old ones end after an overlap. Phones learn a new key of key files a day \
      before it signs.
      """,
      """
      Zaczyna działać nowy klucz, a stare wygasają po okresie przejściowym. Telefony poznają nowy klucz \
      plików dzień przed jego użyciem.
      """
    ),
    .keysAPI: Phrase("API keys", "Klucze API"),
    .keysAPICaption: Phrase("API keys of apps and systems", "Klucze API aplikacji i systemów"),
    .keysKind: Phrase("Kind", "Rodzaj"),
    .keysKindDevice: Phrase("for apps (device)", "dla aplikacji (device)"),
    .keysKindStats: Phrase(
      "for programs that read the numbers of codes (stats)",
      "dla programów, które czytają liczby kodów (stats)"
    ),
    .keysKindAdmin: Phrase(
      "for systems that issue codes (admin)",
      "dla systemów wydających kody (admin)"
    ),
    .keysRevoke: Phrase("Revoke", "Unieważnij"),
    .keysRevoked: Phrase("revoked", "unieważniony"),
    .keysActive: Phrase("active", "aktywny"),
    .keysAddAPI: Phrase("Add an API key", "Dodaj klucz API"),
    .keysHolder: Phrase("Name of its holder", "Nazwa posiadacza"),
    .keysAdd: Phrase("Continue", "Dalej"),
    .keysNewAPI: Phrase("New API key of %1", "Nowy klucz API: %1"),
    .keysAuthorities: Phrase("Authorities", "Organy"),
    .keysAuthoritiesCaption: Phrase(
      "Authorities whose certificates are accepted",
      "Organy, których certyfikaty są przyjmowane"
    ),
    .keysAuthorityIssuer: Phrase("Issuer (iss)", "Wystawca (iss)"),
    .keysAuthorityAudience: Phrase("Audience (aud)", "Odbiorca (aud)"),
    .keysAuthorityKeyID: Phrase("Key id (kid)", "Identyfikator klucza (kid)"),
    .keysAuthorityPEM: Phrase("Public key in PEM", "Klucz publiczny w PEM"),
    .keysRemove: Phrase("Remove", "Usuń"),
    .keysWithdraw: Phrase("Withdraw key %1", "Wycofaj klucz %1"),
    .keysWithdrawn: Phrase("(withdrawn: %1)", "(wycofane: %1)"),
    .keysInSettings: Phrase("in the settings", "w ustawieniach"),
    .keysIgnored: Phrase(
      "ignored: it has the issuer of our own verification server",
      "pomijany: ma wystawcę naszego serwera weryfikacji"
    ),
    .keysWithdrawHelp: Phrase(
      "A withdrawn key is refused within a minute and can never be added again.",
      "Wycofany klucz jest odrzucany w ciągu minuty i nie można go dodać ponownie."
    ),
    .keysAddAuthority: Phrase("Add an authority or a key", "Dodaj organ lub klucz"),
    .keysApps: Phrase("Apps", "Aplikacje"),
    .keysAppsCaption: Phrase("Apps that may upload", "Aplikacje, które mogą przesyłać"),
    .keysApp: Phrase("App, such as its package name", "Aplikacja, np. nazwa pakietu"),
    .keysRegions: Phrase("Regions, separated by commas", "Regiony, rozdzielone przecinkami"),
    .keysAuthoritiesOfApp: Phrase(
      "Issuers, separated by commas",
      "Wystawcy, rozdzieleni przecinkami"
    ),
    .keysAddApp: Phrase("Add or replace an app", "Dodaj lub zastąp aplikację"),
  ]
}
