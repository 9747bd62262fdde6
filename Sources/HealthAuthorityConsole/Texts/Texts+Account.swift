// SPDX-License-Identifier: Apache-2.0
extension Texts {
  /// The texts of the sign-in and of links for a new password.
  static let signInPhrases: [TextKey: Phrase] = [
    .signInTitle: Phrase("Sign in", "Zaloguj się"),
    .signInLead: Phrase(
      "For officials of the health authority.",
      "Dla pracowników organu sanitarnego."
    ),
    .signInName: Phrase("Name", "Nazwa użytkownika"),
    .signInPassword: Phrase("Password", "Hasło"),
    .signInCode: Phrase("Six-digit code from your app", "Sześciocyfrowy kod z aplikacji"),
    .signInButton: Phrase("Sign in", "Zaloguj się"),
    .signInPasskey: Phrase("Sign in with a passkey", "Zaloguj się kluczem dostępu"),
    .signInOr: Phrase("or", "lub"),
    .signInWrong: Phrase(
      """
      The name, the password or the code is wrong. A code works once and for half a minute: wait for the \
      next one, then try again.
      """,
      """
      Nazwa, hasło lub kod są błędne. Kod działa raz i przez pół minuty: poczekaj na następny i spróbuj \
      ponownie.
      """
    ),
    .signInPasskeyWrong: Phrase(
      "The passkey was not accepted. Try again, or use your password.",
      "Klucz dostępu nie został przyjęty. Spróbuj ponownie lub użyj hasła."
    ),
    .signInLocked: Phrase(
      "Too many attempts failed. Wait %1 minutes, sign in with a passkey, or ask an administrator for a link.",
      "Zbyt wiele nieudanych prób. Poczekaj %1 min, użyj klucza dostępu albo poproś administratora o link."
    ),
    .linkOwn: Phrase(
      "Nobody can make a link for their own account. Ask another administrator or the operator.",
      "Nie można utworzyć linku do własnego konta. Poproś innego administratora lub operatora."
    ),
    .signInBusy: Phrase(
      "Too many people sign in at this moment. Wait %1 seconds, then try again with the next code.",
      "Zbyt wiele osób loguje się w tej chwili. Poczekaj %1 s i spróbuj ponownie z następnym kodem."
    ),
    .signInHelp: Phrase(
      "Lost your password or phone? An administrator can give you a link.",
      "Nie masz hasła lub telefonu? Administrator może dać Ci link."
    ),
    .signedOutTitle: Phrase("You are signed out", "Wylogowano"),
    .signedOutText: Phrase(
      "Close the browser if others use this computer.",
      "Zamknij przeglądarkę, jeśli z komputera korzystają inni."
    ),
    .startTitle: Phrase("Set up your account", "Skonfiguruj konto"),
    .startLead: Phrase(
      "Welcome, %1. Two steps, then you can sign in.",
      "Witaj, %1. Dwa kroki i możesz się zalogować."
    ),
    .startStep1: Phrase("Add the console to your code app", "Dodaj konsolę do aplikacji z kodami"),
    .startStep1Text: Phrase(
      "Scan this picture with an app for one-time codes, or type the key.",
      "Zeskanuj obraz aplikacją do kodów jednorazowych lub przepisz klucz."
    ),
    .startKey: Phrase("Key", "Klucz"),
    .startPicture: Phrase("QR code for the code app", "Kod QR dla aplikacji z kodami"),
    .startStep2: Phrase(
      "Choose a password and type the first code",
      "Wybierz hasło i wpisz pierwszy kod"
    ),
    .startPassword: Phrase(
      "New password, at least %1 characters",
      "Nowe hasło, co najmniej %1 znaków"
    ),
    .startPasswordHelp: Phrase(
      "A sentence that only you know is a good password. Pasting from a password manager is welcome.",
      "Dobre hasło to zdanie, które znasz tylko Ty. Możesz wkleić hasło z menedżera haseł."
    ),
    .startButton: Phrase("Finish", "Zakończ"),
    .startShort: Phrase(
      "The password needs at least %1 characters.",
      "Hasło musi mieć co najmniej %1 znaków."
    ),
    .startCodeWrong: Phrase(
      "The code is not the present one. Check the clock of your phone and type the next code.",
      "Kod nie jest aktualny. Sprawdź zegar telefonu i wpisz następny kod."
    ),
    .startDoneTitle: Phrase("Your account is ready", "Konto jest gotowe"),
    .startDoneText: Phrase(
      "Sign in with your name, your new password and the next code of your app.",
      "Zaloguj się nazwą, nowym hasłem i następnym kodem z aplikacji."
    ),
    .startGoneTitle: Phrase("This link does not work any more", "Ten link już nie działa"),
    .startGoneText: Phrase(
      "A link works once and until the time on its letter. Ask an administrator for a new one.",
      "Link działa raz i do czasu podanego w liście. Poproś administratora o nowy."
    ),
  ]

  /// The texts of the pages about accounts and the audit log.
  static let accountPhrases: [TextKey: Phrase] = [
    .accountsTitle: Phrase("Accounts", "Konta"),
    .accountsCard: Phrase(
      "Add officials, give a new link, disable.",
      "Dodawanie osób, nowy link, wyłączanie."
    ),
    .accountsCaption: Phrase("All accounts", "Wszystkie konta"),
    .accountRole: Phrase("Role", "Rola"),
    .accountActive: Phrase("active", "aktywne"),
    .accountNew: Phrase("waits for its holder", "czeka na właściciela"),
    .accountDisabled: Phrase("disabled", "wyłączone"),
    .accountMakeLink: Phrase("New link", "Nowy link"),
    .accountDisable: Phrase("Disable", "Wyłącz"),
    .accountEnable: Phrase("Enable", "Włącz"),
    .accountAddTitle: Phrase("Add an account", "Dodaj konto"),
    .accountAddButton: Phrase("Continue", "Dalej"),
    .accountBadName: Phrase(
      "A name has 2 to 64 letters, digits, spaces or . - _ @ and is not taken.",
      "Nazwa ma od 2 do 64 liter, cyfr, spacji lub . - _ @ i nie jest zajęta."
    ),
    .accountLast: Phrase(
      "The last administrator cannot be disabled: add another one first.",
      "Nie można wyłączyć ostatniego administratora: najpierw dodaj innego."
    ),
    .importTitle: Phrase("Add accounts from a list", "Dodaj konta z listy"),
    .importLead: Phrase(
      "One line for each person: name and role (issuer, epidemiologist, administrator), at most %1 lines.",
      "Jeden wiersz na osobę: nazwa i rola (wydawca kodów, epidemiolog, administrator), najwyżej %1 wierszy."
    ),
    .importFaults: Phrase(
      "No account was requested. Faults of the list: %1.",
      "Nie złożono wniosku o żadne konto. Błędy listy: %1."
    ),
    .importBadRole: Phrase(
      "the role must be issuer, epidemiologist or administrator",
      "rola musi być: wydawca kodów, epidemiolog lub administrator"
    ),
    .importTwice: Phrase(
      "the name %1 is on line %2 too, or looks like it",
      "nazwa %1 jest też w wierszu %2 albo wygląda podobnie"
    ),
    .linksTitle: Phrase("Links for %1 new accounts", "Linki dla nowych kont: %1"),
    .linksUntil: Phrase("The link works once, until %1.", "Link działa raz, do %1."),
    .linkTitle: Phrase("Link for %1", "Link dla konta %1"),
    .linkLead: Phrase(
      """
      Pass it to this person only: print the letter and hand it over or send it by post. It works once. When it is \
      used, the old password, the code app, the passkeys and the sessions end.
      """,
      """
      Przekaż go tylko tej osobie: wydrukuj list i wręcz go albo wyślij pocztą. Działa raz. Po użyciu kończą się: \
      stare hasło, aplikacja z kodami, klucze dostępu i sesje.
      """
    ),
    .letterGreeting: Phrase(
      "This link is for %1. With it you set your password and your code app for the console of the health authority.",
      "Ten link jest dla: %1. Ustawisz nim hasło i aplikację z kodami do konsoli organu sanitarnego."
    ),
    .letterSteps: Phrase(
      """
      Open the address on the computer on which you work, and have your phone with an app for one-time codes at hand. \
      If the link does not work, tell an administrator at once: somebody else may have used it.
      """,
      """
      Otwórz adres na komputerze, na którym pracujesz, i przygotuj telefon z aplikacją do kodów jednorazowych. \
      Jeśli link nie działa, od razu powiadom administratora: mógł go użyć ktoś inny.
      """
    ),
    .letterPicture: Phrase("QR code with the link for %1", "Kod QR z linkiem dla: %1"),
    .letterSubject: Phrase("Your account for the console", "Twoje konto w konsoli"),
    .letterMail: Phrase("Write an e-mail", "Napisz e-mail"),
    .letterMailHelp: Phrase(
      """
      An e-mail can be read on its way, and whoever opens the link first has the account. Use it only for mailboxes of \
      the office, and only for people who expect it.
      """,
      """
      E-mail można przeczytać po drodze, a konto ma ten, kto pierwszy otworzy link. Używaj go tylko do skrzynek urzędu \
      i tylko dla osób, które na niego czekają.
      """
    ),
    .ownTitle: Phrase("Your account", "Twoje konto"),
    .ownCard: Phrase(
      "Passkeys for signing in without a password.",
      "Klucze dostępu do logowania bez hasła."
    ),
    .ownPasskeys: Phrase("Passkeys", "Klucze dostępu"),
    .ownPasskeysLead: Phrase(
      "A passkey signs you in with your fingerprint, your face or a security key, without password and code.",
      "Klucz dostępu loguje odciskiem palca, twarzą lub kluczem sprzętowym, bez hasła i kodu."
    ),
    .ownPasskeysCaption: Phrase("Your passkeys", "Twoje klucze dostępu"),
    .ownPasskeyNone: Phrase("You have no passkey yet.", "Nie masz jeszcze klucza dostępu."),
    .ownPasskeyAdded: Phrase("Added", "Dodano"),
    .ownPasskeyRemove: Phrase("Remove", "Usuń"),
    .ownPasskeyName: Phrase("Name of the device", "Nazwa urządzenia"),
    .ownPasskeyAdd: Phrase("Add a passkey", "Dodaj klucz dostępu"),
    .ownPasskeyWrong: Phrase(
      "The passkey was not accepted: %1. Try again.",
      "Klucz dostępu nie został przyjęty: %1. Spróbuj ponownie."
    ),
    .ownPasskeyScript: Phrase(
      "Adding a passkey needs JavaScript, which is switched off in your browser.",
      "Dodanie klucza dostępu wymaga JavaScriptu, który jest wyłączony w przeglądarce."
    ),
    .ownPasskeyHost: Phrase(
      "Passkeys need a host name: open the console at %1.",
      "Klucze dostępu wymagają nazwy hosta: otwórz konsolę pod adresem %1."
    ),
    .ownPasskeyOld: Phrase(
      "To add a passkey, sign out and sign in again: you signed in more than 10 minutes ago.",
      "Aby dodać klucz dostępu, wyloguj się i zaloguj ponownie: od zalogowania minęło ponad 10 minut."
    ),
    .passkeyUnverified: Phrase(
      "the device did not check your fingerprint, face or PIN",
      "urządzenie nie sprawdziło odcisku palca, twarzy ani PIN-u"
    ),
    .passkeyOther: Phrase(
      "it answered another or an old question",
      "odpowiada na inne lub stare pytanie"
    ),
    .passkeyMalformed: Phrase("the answer could not be read", "nie udało się odczytać odpowiedzi"),
    .passkeyKnown: Phrase(
      "it is known already, or you have too many",
      "jest już znany albo masz ich za dużo"
    ),
    .auditTitle: Phrase("Audit log", "Dziennik zdarzeń"),
    .auditCard: Phrase(
      "Who did what, as a chain that shows changes.",
      "Kto co zrobił, jako łańcuch wykrywający zmiany."
    ),
    .auditCaption: Phrase("The newest entries", "Najnowsze wpisy"),
    .auditActor: Phrase("By", "Kto"),
    .auditCommandLine: Phrase("command line", "wiersz poleceń"),
    .auditAction: Phrase("Action", "Działanie"),
    .auditSubject: Phrase("Subject", "Przedmiot"),
    .auditDetail: Phrase("Detail", "Szczegół"),
    .auditIntact: Phrase("All %1 entries are intact.", "Wszystkie wpisy (%1) są nienaruszone."),
    .auditBroken: Phrase("The log was changed: %1", "Dziennik został zmieniony: %1"),
    .auditHead: Phrase("Hash of the newest entry", "Skrót najnowszego wpisu"),
    .auditHeadHelp: Phrase(
      "Write it down elsewhere from time to time. It shows later whether entries at the end were removed.",
      "Zapisuj go od czasu do czasu w innym miejscu. Pozwoli wykryć usunięcie wpisów z końca."
    ),
    .auditExport: Phrase("Download as JSON lines", "Pobierz jako wiersze JSON"),
    .auditFilter: Phrase("Show only", "Pokaż tylko"),
    .auditAll: Phrase("All", "Wszystkie"),
    .auditFrom: Phrase("First day", "Pierwszy dzień"),
    .auditTo: Phrase("Last day", "Ostatni dzień"),
    .auditShow: Phrase("Show", "Pokaż"),
    .auditOlder: Phrase("Older entries", "Starsze wpisy"),
  ]

  /// The actions of the audit log in words. The log itself has their raw values.
  static let actionPhrases: [AuditAction: Phrase] = [
    .signedIn: Phrase("signed in", "zalogowanie"),
    .signInFailed: Phrase("sign-in refused", "odmowa logowania"),
    .nameLocked: Phrase("name locked", "blokada nazwy"),
    .signedOut: Phrase("signed out", "wylogowanie"),
    .accountAdded: Phrase("account added", "dodanie konta"),
    .accountDisabled: Phrase("account disabled", "wyłączenie konta"),
    .accountEnabled: Phrase("account enabled", "włączenie konta"),
    .linkMade: Phrase("link made", "utworzenie linku"),
    .credentialsSet: Phrase("password and code app set", "ustawienie hasła i aplikacji z kodami"),
    .passkeyAdded: Phrase("passkey added", "dodanie klucza dostępu"),
    .passkeyRemoved: Phrase("passkey removed", "usunięcie klucza dostępu"),
    .codeIssued: Phrase("code issued", "wydanie kodu"),
    .batchIssued: Phrase("list of codes issued", "wydanie listy kodów"),
    .codeExpired: Phrase("code ended", "unieważnienie kodu"),
    .codeLookedUp: Phrase("code looked up", "sprawdzenie kodu"),
    .codeRulesChanged: Phrase("rules for codes changed", "zmiana zasad kodów"),
    .phoneFreed: Phrase("phone number freed", "zwolnienie numeru telefonu"),
    .proposed: Phrase("configuration proposed", "propozycja konfiguracji"),
    .approved: Phrase("configuration approved", "zatwierdzenie konfiguracji"),
    .rejected: Phrase("configuration rejected", "odrzucenie konfiguracji"),
    .changeRequested: Phrase("change requested", "wniosek o zmianę"),
    .changeApproved: Phrase("change approved", "zatwierdzenie zmiany"),
    .changeRejected: Phrase("change rejected", "odrzucenie zmiany"),
    .paused: Phrase("phones paused", "wstrzymanie telefonów"),
    .resumed: Phrase("phones resumed", "wznowienie telefonów"),
    .withdrawn: Phrase("key file withdrawn", "wycofanie pliku kluczy"),
    .restored: Phrase("withdrawal undone", "cofnięcie wycofania"),
    .signingKeyRotated: Phrase("signing key rotated", "wymiana klucza podpisu"),
    .apiKeyAdded: Phrase("API key added", "dodanie klucza API"),
    .apiKeyRevoked: Phrase("API key revoked", "unieważnienie klucza API"),
    .authorityAdded: Phrase("authority added", "dodanie organu"),
    .authorityRemoved: Phrase("authority removed", "usunięcie organu"),
    .authorityKeyWithdrawn: Phrase("key of an authority withdrawn", "wycofanie klucza organu"),
    .appAdded: Phrase("app added", "dodanie aplikacji"),
    .appRemoved: Phrase("app removed", "usunięcie aplikacji"),
    .auditExported: Phrase("audit log exported", "eksport dziennika"),
    .auditKeyed: Phrase("audit log sealed with a key", "zabezpieczenie dziennika kluczem"),
    .failed: Phrase("action failed", "niepowodzenie działania"),
  ]

  /// An action in words; the raw value if it has none.
  func action(_ rawValue: String) -> String {
    AuditAction(rawValue: rawValue).flatMap { Self.actionPhrases[$0]?[language] } ?? rawValue
  }
}
