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
      "A link works once and for one day. Ask an administrator for a new one.",
      "Link działa raz i przez jeden dzień. Poproś administratora o nowy."
    ),
  ]
}
