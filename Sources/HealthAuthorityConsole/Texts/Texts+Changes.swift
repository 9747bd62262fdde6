// SPDX-License-Identifier: Apache-2.0
extension Texts {
  /// The texts of changes that need two people.
  static let changePhrases: [TextKey: Phrase] = [
    .changesTitle: Phrase("Requests", "Wnioski"),
    .changesCard: Phrase(
      "Changes that wait for a second person.",
      "Zmiany, które czekają na drugą osobę."
    ),
    .changesLead: Phrase(
      """
      Changes of phones, keys and accounts that one person has requested. Another person decides. A request \
      expires after %1 days.
      """,
      """
      Zmiany telefonów, kluczy i kont, o które wnosi jedna osoba. Decyduje inna osoba. Wniosek wygasa po \
      %1 dniach.
      """
    ),
    .changesOpen: Phrase("Open requests", "Otwarte wnioski"),
    .changesNone: Phrase("There is no open request.", "Nie ma otwartych wniosków."),
    .changesHistoryCaption: Phrase(
      "Decided requests, newest first",
      "Rozstrzygnięte wnioski od najnowszego"
    ),
    .changesWaiting: Phrase(
      "Requests that wait for your decision: %1",
      "Wnioski, które czekają na Twoją decyzję: %1"
    ),
    .configurationWaiting: Phrase(
      "Risk configurations that wait for your decision: %1",
      "Konfiguracje ryzyka, które czekają na Twoją decyzję: %1"
    ),
    .changeColumn: Phrase("Change", "Zmiana"),
    .changeTitle: Phrase("Effect of the change", "Skutek zmiany"),
    .changeLead: Phrase(
      "Nothing is changed yet. Read the effect, and ask a second person to approve it.",
      "Niczego jeszcze nie zmieniono. Przeczytaj skutek i poproś drugą osobę o zatwierdzenie."
    ),
    .changeRequest: Phrase("Ask a second person", "Poproś drugą osobę"),
    .changeCancel: Phrase("Cancel", "Anuluj"),
    .changeApprove: Phrase("Approve and carry out", "Zatwierdź i wykonaj"),
    .changeNow: Phrase("Pause now for %1 hours", "Wstrzymaj teraz na godzin: %1"),
    .changeNowHelp: Phrase(
      """
      In an emergency you may pause phones alone, for at most %1 hours. To repeat it within seven days, you need a \
      second person.
      """,
      """
      W nagłym przypadku możesz wstrzymać telefony samodzielnie, najwyżej na %1 godz. Powtórzenie w ciągu \
      siedmiu dni wymaga drugiej osoby.
      """
    ),
    .changeNotAlone: Phrase(
      """
      One person may pause phones for at most %1 hours in seven days, and carries out no other change alone: ask \
      a second person.
      """,
      """
      Jedna osoba może wstrzymać telefony najwyżej na %1 godz. w ciągu siedmiu dni i nie wykonuje sama innych zmian: \
      poproś drugą osobę.
      """
    ),
    .changePeople: Phrase(
      "Other people who can approve it: %1",
      "Inne osoby, które mogą to zatwierdzić: %1"
    ),
    .changeNobody: Phrase(
      """
      Nobody else can approve it: there is no other account with this right that is independent of yours. The \
      operator adds one with the command firebreak console account add, or makes the change with a command \
      on the server.
      """,
      """
      Nikt inny nie może tego zatwierdzić: nie ma innego konta z tym uprawnieniem, niezależnego od Twojego. Operator \
      doda je poleceniem firebreak console account add albo wprowadzi zmianę poleceniem na serwerze.
      """
    ),
    .changeNoReason: Phrase(
      "Give a reason of at most %1 characters, none of them invisible: the second person decides by it.",
      "Podaj powód, najwyżej %1 znaków i bez niewidocznych: druga osoba decyduje na jego podstawie."
    ),
    .changeTooMany: Phrase(
      "There are %1 open requests: have them approved or rejected first.",
      "Otwartych wniosków: %1. Najpierw trzeba je zatwierdzić lub odrzucić."
    ),
    .changeRequested: Phrase(
      "The request waits for another person.",
      "Wniosek czeka na inną osobę."
    ),
    .changeDone: Phrase("The change was carried out.", "Zmiana została wykonana."),
    .changeRejected: Phrase("The request was rejected.", "Wniosek został odrzucony."),
    .changeBy: Phrase("Requested by %1 at %2", "Wniosek złożył(a) %1, %2"),
    .changeOwn: Phrase(
      "You requested it: another person must decide. You can reject it.",
      "To Twój wniosek: musi zdecydować inna osoba. Możesz go odrzucić."
    ),
    .changeConcernsYou: Phrase(
      "It concerns your own account: another person must decide.",
      "Dotyczy Twojego konta: musi zdecydować inna osoba."
    ),
    .changeAlone: Phrase(
      "carried out by %1 alone, as an emergency",
      "wykonał(a) %1 samodzielnie, w nagłym przypadku"
    ),
    .changeDecided: Phrase(
      "The request is not open any more: %1.",
      "Wniosek nie jest już otwarty: %1."
    ),
    .changeExpired: Phrase(
      "The request has expired after %1 days: request the change again.",
      "Wniosek wygasł po %1 dniach: złóż go ponownie."
    ),
    .changeExpiredShort: Phrase("expired", "wygasł"),
    .changeWithdrawnShort: Phrase(
      "withdrawn, because the account that requested it was disabled or got a new password (%1)",
      "wycofany, bo konto, z którego go wysłano, wyłączono albo otrzymało nowe hasło (%1)"
    ),
    .changeApprovedUnknown: Phrase(
      "approved by %1, outcome unknown: check whether it was carried out, and request it again if not",
      "zatwierdził(a) %1, wynik nieznany: sprawdź, czy zmianę wykonano, a jeśli nie, złóż wniosek ponownie"
    ),
    .changeAloneUnknown: Phrase(
      "started by %1 alone, outcome unknown: check whether phones are paused",
      "wykonywał(a) %1 samodzielnie, wynik nieznany: sprawdź, czy telefony są wstrzymane"
    ),
    .changeOutcomeUnknown: Phrase(
      """
      The server did not answer, and the change may have been carried out or not: check it, and request it again if \
      needed.
      """,
      """
      Serwer nie odpowiedział i nie wiadomo, czy zmiana została wykonana: sprawdź to i w razie potrzeby złóż wniosek \
      ponownie.
      """
    ),
    .changeEffectChanged: Phrase(
      "The effect has changed since the page was shown. Nothing was carried out: read it again below.",
      "Skutek zmienił się od wyświetlenia strony. Niczego nie wykonano: przeczytaj go ponownie poniżej."
    ),
    .changeAltered: Phrase(
      "The request was altered in the database after it was made: reject it, and tell the operator.",
      "Wniosek zmieniono w bazie danych po jego złożeniu: odrzuć go i powiadom operatora."
    ),
    .changeDuplicate: Phrase(
      "The same change is requested already: it waits below.",
      "Ta sama zmiana ma już wniosek: czeka poniżej."
    ),
    .changeBadText: Phrase(
      """
      A name or another value has spaces around it, invisible characters, or more than %1 bytes: \
      type it again.
      """,
      """
      Nazwa lub inna wartość ma wokół spacje, niewidoczne znaki albo więcej niż %1 bajtów: wpisz ją \
      ponownie.
      """
    ),
    .changeBadKey: Phrase(
      "The public key is not a P-256 key in PEM: ask the authority for it.",
      "Klucz publiczny nie jest kluczem P-256 w formacie PEM: poproś o niego organ."
    ),
    .changeOtherKey: Phrase(
      "The authority %1 has another key with the id %2: give the new key another id.",
      "Organ %1 ma inny klucz o identyfikatorze %2: nadaj nowemu kluczowi inny identyfikator."
    ),
    .changeOtherAudience: Phrase(
      "The audience of the authority %1 is %2: leave it, or remove the authority first.",
      "Odbiorcą organu %1 jest %2: zostaw go albo najpierw usuń organ."
    ),
    .changeAuthorDisabled: Phrase(
      "The account %1 that requested it is disabled or got a new password: request the change again.",
      "Konto %1, z którego wysłano wniosek, jest wyłączone lub ma nowe hasło: złóż wniosek ponownie."
    ),
    .changeGone: Phrase(
      "What it concerns does not exist any more.",
      "To, czego dotyczy, już nie istnieje."
    ),
    .changeFor: Phrase("Hand it to %1, and to nobody else.", "Przekaż to tylko: %1."),
    .changeRotate: Phrase("New signing key %1", "Nowy klucz podpisu %1"),
    .changeCodeRules: Phrase("Change the rules for codes", "Zmiana zasad kodów"),
    .changeAddAPIKey: Phrase("Add an API key for %1 (%2)", "Dodanie klucza API: %1 (%2)"),
    .changeRevokeAPIKey: Phrase("Revoke the API key of %1", "Unieważnienie klucza API: %1"),
    .changeAddAuthority: Phrase(
      "Accept the key %2 of the authority %1",
      "Przyjmowanie klucza %2 organu %1"
    ),
    .changeRemoveAuthority: Phrase("Remove the authority %1", "Usunięcie organu %1"),
    .changeWithdrawKey: Phrase(
      "Withdraw the key %2 of the authority %1",
      "Wycofanie klucza %2 organu %1"
    ),
    .changeAddApp: Phrase("Allow the app %1 to upload", "Zezwolenie aplikacji %1 na przesyłanie"),
    .changeRemoveApp: Phrase("Remove the app %1", "Usunięcie aplikacji %1"),
    .changePause: Phrase(
      "Pause all phones for %1 hours",
      "Wstrzymanie wszystkich telefonów na godzin: %1"
    ),
    .changePauseOpen: Phrase(
      "Pause all phones until they are resumed",
      "Wstrzymanie wszystkich telefonów do wznowienia"
    ),
    .changeResume: Phrase("Resume all phones", "Wznowienie wszystkich telefonów"),
    .changeWithdrawFile: Phrase("Withdraw the key file %1", "Wycofanie pliku kluczy %1"),
    .changeRestoreFile: Phrase(
      "Undo the withdrawal of the key file %1",
      "Cofnięcie wycofania pliku kluczy %1"
    ),
    .changeAddAccount: Phrase("Add the account %1, %2", "Dodanie konta %1, %2"),
    .changeAddAccounts: Phrase("Add %1 accounts from a list", "Dodaj konta z listy: %1"),
    .changeMakeLink: Phrase("New link for the account %1", "Nowy link do konta %1"),
    .changeDisable: Phrase("Disable the account %1", "Wyłączenie konta %1"),
    .changeEnable: Phrase("Enable the account %1", "Włączenie konta %1"),
    .changeNotPaused: Phrase("Phones are not paused.", "Telefony nie są wstrzymane."),
    .changePausedUntil: Phrase(
      "Phones are paused until %1 already: pause them for longer, or resume them first.",
      "Telefony są już wstrzymane do %1: wstrzymaj je na dłużej albo najpierw wznów."
    ),
    .changePausedOpen: Phrase(
      "Phones are paused already until they are resumed: resume them first.",
      "Telefony są już wstrzymane do wznowienia: najpierw je wznów."
    ),
    .changeUnknownFile: Phrase(
      "No export has this file: choose one from the list of exports.",
      "Żaden eksport nie zawiera tego pliku: wybierz plik z listy eksportów."
    ),
    .changeWithdrawn: Phrase(
      "The file and its copies are withdrawn already.",
      "Plik i jego kopie są już wycofane."
    ),
    .changeNotWithdrawn: Phrase("The file is not withdrawn.", "Plik nie jest wycofany."),
    .changeRevoked: Phrase("The API key is revoked already.", "Klucz API jest już unieważniony."),
    .changeBadKeyName: Phrase(
      "The name of the holder has 1 to %1 characters.",
      "Nazwa posiadacza ma od 1 do %1 znaków."
    ),
    .changeAccountDisabled: Phrase("The account %1 is disabled.", "Konto %1 jest wyłączone."),
    .changeAccountEnabled: Phrase(
      "The account %1 is not disabled.",
      "Konto %1 nie jest wyłączone."
    ),
    .accountLooksAlike: Phrase(
      "The name looks like that of the account %1: choose another one.",
      "Nazwa wygląda jak nazwa konta %1: wybierz inną."
    ),
    .accountTooMany: Phrase(
      "There are too many accounts: use an existing one.",
      "Jest za dużo kont: użyj istniejącego."
    ),
  ]
}
