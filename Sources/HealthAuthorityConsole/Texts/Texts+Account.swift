extension Texts {
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
    .accountAddButton: Phrase("Add and show the link", "Dodaj i pokaż link"),
    .accountBadName: Phrase(
      "A name has 2 to 64 letters, digits, spaces or . - _ @ and is not taken.",
      "Nazwa ma od 2 do 64 liter, cyfr, spacji lub . - _ @ i nie jest zajęta."
    ),
    .accountLast: Phrase(
      "The last administrator cannot be disabled: add another one first.",
      "Nie można wyłączyć ostatniego administratora: najpierw dodaj innego."
    ),
    .linkTitle: Phrase("Link for %1", "Link dla konta %1"),
    .linkLead: Phrase(
      """
      Pass it to this person only, not by e-mail. It works once and for one day. When it is used, the old \
      password, the code app, the passkeys and the sessions end.
      """,
      """
      Przekaż go tylko tej osobie, nie e-mailem. Działa raz i przez jeden dzień. Po użyciu kończą się: \
      stare hasło, aplikacja z kodami, klucze dostępu i sesje.
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
    .auditOlder: Phrase("Older entries", "Starsze wpisy"),
  ]
}
