// SPDX-License-Identifier: Apache-2.0
extension Texts {
  /// The texts of changes that need two people.
  static let changePhrases: [TextKey: Phrase] = [
    .changesTitle: Phrase("Requests", "Prośby"),
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
      Zmiany telefonów, kluczy i kont, o które poprosiła jedna osoba. Decyduje inna osoba. Prośba wygasa po \
      %1 dniach.
      """
    ),
    .changesOpen: Phrase("Open requests", "Otwarte prośby"),
    .changesNone: Phrase("There is no open request.", "Nie ma otwartych próśb."),
    .changesHistoryCaption: Phrase(
      "Decided requests, newest first",
      "Rozstrzygnięte prośby od najnowszej"
    ),
    .changesWaiting: Phrase(
      "Requests that wait for your decision: %1",
      "Prośby, które czekają na Twoją decyzję: %1"
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
      In an emergency you may pause phones alone, for at most %1 hours. To repeat it within two days, you need a \
      second person.
      """,
      """
      W nagłym przypadku możesz wstrzymać telefony samodzielnie, najwyżej na %1 godz. Powtórzenie w ciągu dwóch dni \
      wymaga drugiej osoby.
      """
    ),
    .changeNotAlone: Phrase(
      """
      One person may pause phones for at most %1 hours in two days, and carries out no other change alone: ask a second \
      person.
      """,
      """
      Jedna osoba może wstrzymać telefony najwyżej na %1 godz. w ciągu dwóch dni i nie wykonuje sama innych zmian: \
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
      operator adds one with the command firebreak console account add, or makes the change with a command on the server.
      """,
      """
      Nikt inny nie może tego zatwierdzić: nie ma innego konta z tym uprawnieniem, niezależnego od Twojego. Operator doda je \
      poleceniem firebreak console account add albo wprowadzi zmianę poleceniem na serwerze.
      """
    ),
    .changeNoReason: Phrase(
      "Give a reason of at most %1 characters: the second person decides by it.",
      "Podaj powód, najwyżej %1 znaków: druga osoba decyduje na jego podstawie."
    ),
    .changeTooMany: Phrase(
      "There are %1 open requests: have them approved or rejected first.",
      "Jest %1 otwartych próśb: najpierw trzeba je zatwierdzić lub odrzucić."
    ),
    .changeRequested: Phrase(
      "The request waits for another person.",
      "Prośba czeka na inną osobę."
    ),
    .changeDone: Phrase("The change was carried out.", "Zmiana została wykonana."),
    .changeRejected: Phrase("The request was rejected.", "Prośba została odrzucona."),
    .changeBy: Phrase("Requested by %1 at %2", "Poprosił(a) %1, %2"),
    .changeOwn: Phrase(
      "You requested it: another person must decide. You can reject it.",
      "To Twoja prośba: musi zdecydować inna osoba. Możesz ją odrzucić."
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
      "Prośba nie jest już otwarta: %1."
    ),
    .changeExpired: Phrase(
      "The request has expired after %1 days: request the change again.",
      "Prośba wygasła po %1 dniach: poproś o zmianę ponownie."
    ),
    .changeExpiredShort: Phrase("expired", "wygasła"),
    .changeAuthorDisabled: Phrase(
      "The account %1 that requested it is disabled: request the change again.",
      "Konto %1, z którego wysłano prośbę, jest wyłączone: poproś o zmianę ponownie."
    ),
    .changeGone: Phrase(
      "What it concerns does not exist any more.",
      "To, czego dotyczy, już nie istnieje."
    ),
    .changeFor: Phrase("Hand it to %1, and to nobody else.", "Przekaż to tylko: %1."),
    .changeRotate: Phrase("New signing key %1", "Nowy klucz podpisu %1"),
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

  /// The effects of changes.
  static let effectPhrases: [TextKey: Phrase] = [
    .effectPause: Phrase(
      """
      All phones of these servers stop checking and uploading at their next check, until about %1. They \
      lose nothing.
      """,
      """
      Wszystkie telefony tych serwerów przy następnym sprawdzeniu przestaną sprawdzać i przesyłać, do \
      około %1. Niczego nie tracą.
      """
    ),
    .effectPauseOpen: Phrase(
      """
      All phones of these servers stop checking and uploading at their next check, until they are resumed. \
      They lose nothing.
      """,
      """
      Wszystkie telefony tych serwerów przy następnym sprawdzeniu przestaną sprawdzać i przesyłać, do \
      wznowienia. Niczego nie tracą.
      """
    ),
    .effectResume: Phrase(
      "All phones of these servers check and upload again from their next check on.",
      "Wszystkie telefony tych serwerów od następnego sprawdzenia znów sprawdzają i przesyłają."
    ),
    .effectWithdraw: Phrase(
      """
      All phones ignore %1 files, which have %2 keys in all, padding included, and undo the exposures found through \
      them. These are the file and its copies in all exports:
      """,
      """
      Wszystkie telefony pominą pliki w liczbie %1, które mają razem %2 kluczy z uzupełnieniem, i cofną narażenia \
      wykryte dzięki nim. To plik i jego kopie we wszystkich eksportach:
      """
    ),
    .effectRestore: Phrase(
      "All phones read %1 files again. These are the file and its withdrawn copies in all exports:",
      """
      Wszystkie telefony znów odczytają pliki w liczbie %1. To plik i jego wycofane kopie we wszystkich \
      eksportach:
      """
    ),
    .effectFile: Phrase("%1: %2, %3 keys", "%1: %2, kluczy: %3"),
    .effectExpiredFile: Phrase(
      "a file that no export has any more, with the SHA-256 %1",
      "plik, którego nie ma już żaden eksport, o SHA-256 %1"
    ),
    .effectRotateFiles: Phrase(
      """
      A key is added to the present %1, which end after an overlap. All phones learn it with their next check, a day \
      before it signs. The %2 listed key files keep their signature, which phones accept until the old key ends.
      """,
      """
      Do obecnych kluczy (%1), które wygasną po okresie przejściowym, dojdzie nowy. Wszystkie telefony poznają go przy \
      następnym sprawdzeniu, dzień przed użyciem. Pliki kluczy z listy (%2) zachowają podpis, przyjmowany do wygaśnięcia \
      starego klucza.
      """
    ),
    .effectRotateTokens: Phrase(
      """
      A key is added to the present %1, which end after an overlap. All phones go on: tokens and certificates that \
      they have stay valid.
      """,
      """
      Do obecnych kluczy (%1), które wygasną po okresie przejściowym, dojdzie nowy. Wszystkie telefony działają dalej: ich \
      tokeny i certyfikaty pozostają ważne.
      """
    ),
    .effectKeyDevice: Phrase(
      "All phones with an app that has the key can redeem codes.",
      "Wszystkie telefony z aplikacją, która ma ten klucz, mogą wykorzystywać kody."
    ),
    .effectKeyAdmin: Phrase(
      "A system that has the key can issue and end any number of codes, with which phones upload keys.",
      """
      System, który ma ten klucz, może wydawać i unieważniać dowolnie wiele kodów, którymi telefony \
      przesyłają klucze.
      """
    ),
    .effectKeyStats: Phrase(
      "A program that has the key can read the numbers of codes.",
      "Program, który ma ten klucz, może czytać liczby kodów."
    ),
    .effectSecret: Phrase(
      "It is shown once, to the person who approves, who hands it to %1.",
      "Zobaczy to raz osoba, która zatwierdzi, i przekaże to: %1."
    ),
    .effectRevoke: Phrase(
      """
      All requests with the key of %1 (%2) are refused from then on, for good. Codes that were issued with it can still be \
      redeemed.
      """,
      """
      Wszystkie żądania z kluczem %1 (%2) będą odtąd odrzucane, na stałe. Kody wydane tym kluczem nadal można \
      wykorzystać.
      """
    ),
    .effectAddAuthority: Phrase(
      """
      Certificates that the key %1 has signed let phones upload keys to all others. Apps that name this authority: %2. \
      Keys that it has stay.
      """,
      """
      Certyfikaty podpisane kluczem %1 pozwolą telefonom przesyłać klucze do wszystkich innych. Aplikacje z tym organem: \
      %2. Jego obecne klucze pozostają.
      """
    ),
    .effectRemoveAuthority: Phrase(
      """
      The %1 keys of the authority end, and it is removed from %2 apps: all uploads with its certificates are refused \
      within a minute.
      """,
      """
      Klucze organu (%1) tracą ważność, a organ znika z aplikacji (%2): wszystkie przesłania z jego certyfikatami będą \
      odrzucane w ciągu minuty.
      """
    ),
    .effectWithdrawKey: Phrase(
      """
      All uploads with certificates of this key are refused within a minute, and the key can never be added again. The \
      authority keeps %1 other keys. Apps that name it: %2.
      """,
      """
      Wszystkie przesłania z certyfikatami tego klucza będą odrzucane w ciągu minuty, a klucza nie można dodać ponownie. \
      Organ zachowa innych kluczy: %1. Aplikacje z tym organem: %2.
      """
    ),
    .effectAddApp: Phrase(
      "All phones with this app can upload keys for the regions %1 with certificates of %2.",
      """
      Wszystkie telefony z tą aplikacją mogą przesyłać klucze dla regionów %1 z certyfikatami organów %2.
      """
    ),
    .effectReplaceApp: Phrase(
      "It replaces the present entry: regions %1, authorities %2.",
      "Zastąpi to obecny wpis: regiony %1, organy %2."
    ),
    .effectRemoveApp: Phrase(
      """
      All uploads of phones with this app, for the regions %1, are refused within a minute. Other apps \
      stay: %2.
      """,
      """
      Wszystkie przesłania telefonów z tą aplikacją, dla regionów %1, będą odrzucane w ciągu minuty. Inne \
      aplikacje pozostają: %2.
      """
    ),
    .effectAddAccount: Phrase(
      """
      A link for the holder is made. The account gets the role %1, and counts as one person with the one \
      who approves.
      """,
      """
      Powstanie link dla właściciela. Konto otrzyma rolę %1 i będzie liczone jako jedna osoba z tą, która \
      zatwierdzi.
      """
    ),
    .effectLink: Phrase(
      """
      When the link is used, the password, the code app, %1 sessions and %2 passkeys of the account end, and it counts as \
      one person with the one who approves.
      """,
      """
      Po użyciu linku kończą się hasło, aplikacja z kodami, sesje (%1) i klucze dostępu (%2) konta, a konto będzie liczone \
      jako jedna osoba z tą, która zatwierdzi.
      """
    ),
    .effectDisable: Phrase(
      """
      %1 sessions of the account and its link end, it cannot sign in, and its open requests are not \
      carried out.
      """,
      """
      Sesje konta (%1) i jego link kończą się, nie można się na nie zalogować, a jego otwarte prośby nie \
      zostaną wykonane.
      """
    ),
    .effectEnable: Phrase(
      "The account can sign in again with its old password, and with %1 passkeys.",
      "Na konto można znów zalogować się starym hasłem i kluczami dostępu (%1)."
    ),
  ]
}
