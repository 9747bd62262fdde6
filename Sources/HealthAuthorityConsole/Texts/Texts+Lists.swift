// SPDX-License-Identifier: Apache-2.0
extension Texts {
  /// The texts of lists of codes: their faults, and their way by SMS.
  static let listPhrases: [TextKey: Phrase] = [
    .batchLeadSMS: Phrase(
      """
      One line for each person: your own reference, the test (confirmed or likely), the first day of \
      symptoms, a phone number with country code. The last two may be empty. Codes with a number are sent by \
      SMS and not shown.
      """,
      """
      Jeden wiersz na osobę: własne oznaczenie, test (potwierdzony lub prawdopodobny), pierwszy dzień objawów, \
      numer telefonu z kodem kraju. Dwa ostatnie mogą być puste. Kody z numerem są wysyłane SMS-em i nie są \
      pokazywane.
      """
    ),
    .batchFaults: Phrase(
      "No code was issued: the list has %1 faults. Correct them and send the list again.",
      "Nie wydano żadnego kodu: liczba błędów na liście: %1. Popraw je i wyślij listę ponownie."
    ),
    .batchMoreFaults: Phrase("And %1 more.", "I jeszcze: %1."),
    .batchBadQuote: Phrase(
      "a quotation mark is not closed", "cudzysłów nie jest zamknięty"
    ),
    .batchBadPhone: Phrase(
      "the phone number must have its country code, such as +48123456789",
      "numer telefonu musi mieć kod kraju, np. +48123456789"
    ),
    .batchNoSMS: Phrase(
      "this server sends no SMS: leave the phone number out",
      "ten serwer nie wysyła SMS-ów: pomiń numer telefonu"
    ),
    .batchLongReference: Phrase(
      "the reference has more than %1 characters", "oznaczenie ma więcej niż %1 znaków"
    ),
    .batchOtherValues: Phrase(
      "the reference %1 has other values on line %2",
      "oznaczenie %1 ma inne wartości w wierszu %2"
    ),
    .batchWorkbook: Phrase(
      "This is a workbook of a spreadsheet program: save it as CSV and choose that file.",
      "To jest skoroszyt arkusza kalkulacyjnego: zapisz go jako CSV i wybierz ten plik."
    ),
    .batchNotText: Phrase(
      "The file is not text in UTF-8, UTF-16 or Windows-1250: save it as CSV in UTF-8.",
      "Plik nie jest tekstem w UTF-8, UTF-16 ani Windows-1250: zapisz go jako CSV w UTF-8."
    ),
    .batchRepeated: Phrase(
      "Lines that repeat a reference and have no code of their own: %1.",
      "Wiersze z powtórzonym oznaczeniem, bez własnego kodu: %1."
    ),
    .batchColumnZone: Phrase("Time zone", "Strefa czasowa"),
    .batchFileHelp: Phrase(
      "Choose it or drop it here. Commas, semicolons or tabs; UTF-8, UTF-16 or Windows-1250.",
      "Wybierz go lub upuść tutaj. Przecinki, średniki lub tabulatory; UTF-8, UTF-16 lub Windows-1250."
    ),
    .batchContinue: Phrase(
      "Continue an interrupted list", "Kontynuuj przerwaną listę"
    ),
    .batchContinueHelp: Phrase(
      "Choose the same file again. Codes that were sent with this number are not sent twice.",
      "Wybierz ponownie ten sam plik. Kody wysłane z tym numerem nie zostaną wysłane drugi raz."
    ),
    .batchBadNumber: Phrase(
      "The number of a list looks like 0b1c2d3e-0000-4000-8000-000000000001.",
      "Numer listy wygląda tak: 0b1c2d3e-0000-4000-8000-000000000001."
    ),
    .batchKeptText: Phrase(
      "You were signed out, and no code was issued. Your list is kept on this page: do not close it.",
      "Nastąpiło wylogowanie i nie wydano żadnego kodu. Lista została na tej stronie: nie zamykaj jej."
    ),
    .batchKeptLines: Phrase("Lines of the list: %1.", "Wiersze listy: %1."),
    .batchKeptSignIn: Phrase("Sign in in a new tab", "Zaloguj się w nowej karcie"),
    .batchKeptContinue: Phrase(
      "I am signed in: continue with the list", "Zalogowano: kontynuuj z listą"
    ),
    .batchKeptNotice: Phrase(
      "Your list is here again. Check it, then issue the codes.",
      "Oto Twoja lista. Sprawdź ją i wydaj kody."
    ),
    .smsListTitle: Phrase("Codes by SMS", "Kody SMS-em"),
    .smsListProgress: Phrase(
      "Sent: %1. Not sent because of a fault: %2. Waiting: %3.",
      "Wysłane: %1. Niewysłane z powodu błędu: %2. Oczekujące: %3."
    ),
    .smsListRunning: Phrase(
      "The codes are being sent. You may leave this page.",
      "Trwa wysyłanie kodów. Możesz opuścić tę stronę."
    ),
    .smsListDone: Phrase("The list is finished.", "Lista jest zakończona."),
    .smsListInterrupted: Phrase("The list was interrupted: %1", "Lista została przerwana: %1"),
    .smsListResume: Phrase("Continue", "Kontynuuj"),
    .smsListRetry: Phrase("Try those with a fault again", "Ponów te z błędem"),
    .smsListUpdates: Phrase("Keep this page up to date", "Odświeżaj tę stronę"),
    .smsListNoUpdates: Phrase(
      "Stop updating this page", "Nie odświeżaj tej strony"
    ),
    .smsListTooMany: Phrase(
      "Too many lists are being sent, or this number is that of another list. Try again later.",
      "Zbyt wiele list jest wysyłanych albo ten numer należy do innej listy. Spróbuj później."
    ),
    .smsListGone: Phrase(
      """
      A list is shown for an hour after its last SMS, to the person who has sent it. To continue an interrupted \
      list, send the same file with the number of the list.
      """,
      """
      Listę widać przez godzinę po ostatnim SMS-ie, tylko dla osoby, która ją wysłała. Aby kontynuować przerwaną \
      listę, wyślij ten sam plik z numerem listy.
      """
    ),
    .smsListNumber: Phrase("Number of the list", "Numer listy"),
    .smsListHelp: Phrase(
      "If the console stops in between, send the same file with this number: no SMS is sent twice.",
      "Jeśli konsola się zatrzyma, wyślij ten sam plik z tym numerem: żaden SMS nie zostanie wysłany dwa razy."
    ),
    .smsListSent: Phrase("sent", "wysłany"),
    .smsListSentBefore: Phrase("sent before", "wysłany wcześniej"),
    .smsListWaiting: Phrase("waiting", "oczekuje"),
  ]

  /// The texts of issued codes and of the counts by official.
  static let issuedPhrases: [TextKey: Phrase] = [
    .issueTemplate: Phrase("Text of the SMS", "Treść SMS-a"),
    .rulesTitle: Phrase("Rules for codes", "Zasady kodów"),
    .rulesCard: Phrase("Validity, quota, texts for an SMS.", "Ważność, limit, treści SMS-ów."),
    .rulesLead: Phrase(
      """
      The settings of the verification server. Codes keep the rules with which they were issued. The operator changes \
      the quota and the texts in verification/settings.json.
      """,
      """
      Ustawienia serwera weryfikacji. Kody zachowują zasady, z którymi je wydano. Limit i treści SMS-ów zmienia \
      operator w verification/settings.json.
      """
    ),
    .rulesChange: Phrase("Other rules", "Inne zasady"),
    .rulesChangeHelp: Phrase(
      """
      A second administrator approves them. The verification server uses them from the next code on, without a new \
      start.
      """,
      """
      Zatwierdza je drugi administrator. Serwer weryfikacji stosuje je od następnego kodu, bez ponownego uruchomienia.
      """
    ),
    .rulesAsk: Phrase("Show the effect", "Pokaż skutki"),
    .rulesMinuteBounds: Phrase("%1 to %2 minutes", "od %1 do %2 min"),
    .rulesDigitBounds: Phrase("%1 to %2 digits", "od %1 do %2 cyfr"),
    .rulesBadMinutes: Phrase(
      "%1: write a number of minutes from %2 to %3.", "%1: podaj liczbę minut od %2 do %3."
    ),
    .rulesBadDigits: Phrase(
      "%1: write a number of digits from %2 to %3.", "%1: podaj liczbę cyfr od %2 do %3."
    ),
    .rulesLongShorter: Phrase(
      "The link in an SMS must be valid for at least as long as a short code.",
      "Link w SMS-ie musi być ważny co najmniej tak długo jak kod."
    ),
    .rulesSame: Phrase("These are the rules in force.", "Te zasady już obowiązują."),
    .rulesRule: Phrase("Rule", "Zasada"),
    .rulesValue: Phrase("Value", "Wartość"),
    .rulesSetting: Phrase("Setting", "Ustawienie"),
    .rulesMinutes: Phrase("%1 minutes", "%1 min"),
    .rulesQuota: Phrase("Codes of this console in a day", "Kody tej konsoli na dobę"),
    .rulesPIN: Phrase("Validity of a PIN (laboratory)", "Ważność PIN-u (laboratorium)"),
    .rulesShortCode: Phrase("Validity of a short code (doctor)", "Ważność kodu (lekarz)"),
    .rulesLongCode: Phrase("Validity of the link in an SMS", "Ważność linku w SMS-ie"),
    .rulesDigits: Phrase("Digits of a short code, at least", "Cyfry kodu, co najmniej"),
    .rulesDate: Phrase("First day of symptoms is required", "Pierwszy dzień objawów jest wymagany"),
    .rulesTemplates: Phrase("Texts for an SMS", "Treści SMS-ów"),
    .rulesYes: Phrase("yes", "tak"),
    .rulesNo: Phrase("no", "nie"),
    .issuedCodesTitle: Phrase("Codes you have issued", "Wydane przez Ciebie kody"),
    .issuedCodesCard: Phrase(
      "Find a code again, end it or replace it.",
      "Odszukaj kod, unieważnij go lub wydaj nowy."
    ),
    .issuedCodesLead: Phrase(
      "The numbers of your codes of the last %1 days. Neither the codes nor anything about persons is stored.",
      "Numery Twoich kodów z ostatnich %1 dni. Ani kody, ani dane osób nie są zapisywane."
    ),
    .issuedCodesSearch: Phrase(
      "Start of the number of a code or of a list",
      "Początek numeru kodu lub listy"
    ),
    .issuedCodesFind: Phrase("Search", "Szukaj"),
    .issuedCodesNone: Phrase("There is no such code.", "Nie ma takiego kodu."),
    .issuedCodesCaption: Phrase("Your codes, newest first", "Twoje kody, od najnowszych"),
    .issuedCodesUsed: Phrase("used", "użyty"),
    .issuedCodesUnused: Phrase("not used yet", "jeszcze nieużyty"),
    .issuedCodesOver: Phrase("expired or ended", "wygasły lub unieważniony"),
    .issuedCodesGone: Phrase("not issued, or deleted", "niewydany lub usunięty"),
    .issuedCodesEnd: Phrase("End", "Unieważnij"),
    .issuedCodesReplace: Phrase("New code instead", "Nowy kod zamiast tego"),
    .issuedCodesReplaceHelp: Phrase(
      "When the new code is issued, this one ends:",
      "Po wydaniu nowego kodu ten zostanie unieważniony:"
    ),
    .issuedCodesReplaced: Phrase("The earlier code was ended.", "Poprzedni kod unieważniono."),
    .issuedCodesNotReplaced: Phrase(
      "The earlier code could not be ended: end it on the page of your codes.",
      "Nie udało się unieważnić poprzedniego kodu: zrób to na stronie swoich kodów."
    ),
    .issuedCodesOlder: Phrase("Older codes", "Starsze kody"),
    .officialsTitle: Phrase("Codes by official", "Kody według pracowników"),
    .officialsCard: Phrase(
      "How many codes each official has issued.", "Ile kodów wydał każdy pracownik."
    ),
    .officialsLead: Phrase(
      "Codes of the last %1 days by day and official. Counts below %2 are not shown.",
      "Kody z ostatnich %1 dni według dnia i pracownika. Liczb poniżej %2 nie pokazano."
    ),
    .officialsOfficial: Phrase("Official", "Pracownik"),
    .officialsDownload: Phrase("Download as CSV", "Pobierz jako CSV"),
    .issuersTitle: Phrase("Codes by system", "Kody według systemów"),
    .issuersCard: Phrase(
      "How many codes each laboratory and system has issued.",
      "Ile kodów wydało każde laboratorium i każdy system."
    ),
    .issuersLead: Phrase(
      """
      Codes by day, by API key and by the name of the issuer that a system sends (externalIssuerID). Only days that \
      are over; rounded down to tens, so that fewer than ten codes are not listed.
      """,
      """
      Kody według dnia, klucza API i nazwy wystawcy, którą wysyła system (externalIssuerID). Tylko dni zakończone; \
      liczby zaokrąglone w dół do dziesiątek, więc mniej niż dziesięciu kodów nie wymieniono.
      """
    ),
    .attemptsTitle: Phrase("What apps entered", "Co wprowadziły aplikacje"),
    .attemptsLead: Phrase(
      """
      Codes and tokens by the device key of the app, of days that are over, rounded down to tens. Codes are \
      invalid if they are unknown, used or expired: many show that people mistype them, that they arrive too \
      late, or that somebody guesses.
      """,
      """
      Kody i tokeny według klucza aplikacji, z zakończonych dni, zaokrąglone w dół do dziesiątek. Kod jest \
      nieprawidłowy, jeśli jest nieznany, użyty albo wygasły: wiele takich oznacza, że ludzie się mylą, że kody \
      docierają za późno albo że ktoś zgaduje.
      """
    ),
    .attemptsApp: Phrase("App", "Aplikacja"),
    .attemptsAll: Phrase("all apps", "wszystkie aplikacje"),
    .attemptsInvalid: Phrase("Invalid codes", "Nieprawidłowe kody"),
    .attemptsTokens: Phrase("Tokens exchanged", "Wymienione tokeny"),
    .attemptsRefused: Phrase("Tokens refused", "Odrzucone tokeny"),
    .attemptsIOS: Phrase("Invalid codes on iOS", "Nieprawidłowe kody w iOS"),
    .attemptsAndroid: Phrase("Invalid codes on Android", "Nieprawidłowe kody w Androidzie"),
    .attemptsOther: Phrase(
      "Invalid codes on unknown systems", "Nieprawidłowe kody w nieznanych systemach"
    ),
    .attemptsDownload: Phrase("Download the attempts as CSV", "Pobierz próby jako CSV"),
    .issuersKind: Phrase("Known by", "Znany przez"),
    .issuersKey: Phrase("API key", "klucz API"),
    .issuersExternal: Phrase("external issuer", "zewnętrzny wystawca"),
  ]
}
