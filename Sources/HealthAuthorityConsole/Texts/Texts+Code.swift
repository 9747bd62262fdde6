// SPDX-License-Identifier: Apache-2.0
import VerificationAPI

extension Texts {
  /// The texts of the pages about codes.
  static let codePhrases: [TextKey: Phrase] = [
    .issueTitle: Phrase("Issue a code", "Wydaj kod"),
    .issueCard: Phrase(
      "For one person, present or on the phone.",
      "Dla jednej osoby, na miejscu lub przez telefon."
    ),
    .issueLead: Phrase(
      "Check the test result first. The code lets the person warn others without giving a name.",
      "Najpierw sprawdź wynik testu. Kod pozwala osobie ostrzec innych bez podawania nazwiska."
    ),
    .issueTest: Phrase("Test", "Test"),
    .issueConfirmed: Phrase("Confirmed by a laboratory", "Potwierdzony laboratoryjnie"),
    .issueLikely: Phrase("Diagnosed by a doctor", "Rozpoznanie lekarza"),
    .issueSymptoms: Phrase(
      "First day of symptoms, if any",
      "Pierwszy dzień objawów, jeśli wystąpiły"
    ),
    .issuePhone: Phrase(
      "Phone number for an SMS, if wanted",
      "Numer telefonu do SMS, jeśli potrzebny"
    ),
    .issuePhoneHelp: Phrase(
      "With country code, such as +48123456789. It is used for the SMS and not stored.",
      "Z numerem kierunkowym kraju, np. +48123456789. Służy tylko do SMS-a i nie jest zapisywany."
    ),
    .issueButton: Phrase("Issue the code", "Wydaj kod"),
    .issuedTitle: Phrase("The code", "Kod"),
    .issuedLead: Phrase(
      "Read it aloud or let the person scan the picture.",
      "Przeczytaj go na głos lub pozwól zeskanować obraz."
    ),
    .issuedExpires: Phrase("Valid until %1", "Ważny do %1"),
    .issuedLink: Phrase("Link that opens the app", "Link otwierający aplikację"),
    .issuedPicture: Phrase("QR code with the link", "Kod QR z linkiem"),
    .issuedSMS: Phrase("Text for an SMS", "Treść SMS-a"),
    .issuedSMSText: Phrase(
      "Your code for the app is %1. Enter it until %2 to warn others without giving your name.",
      "Twój kod do aplikacji to %1. Wpisz go do %2, aby ostrzec innych bez podawania nazwiska."
    ),
    .issuedSMSOpen: Phrase(
      "Open in the SMS program of this device",
      "Otwórz w programie SMS tego urządzenia"
    ),
    .issuedHandle: Phrase("Number of the code", "Numer kodu"),
    .issuedHandleHelp: Phrase(
      "With this number you can look up whether the code was used, and end it.",
      "Tym numerem sprawdzisz, czy kod został użyty, i możesz go unieważnić."
    ),
    .issuedNext: Phrase("Issue another code", "Wydaj kolejny kod"),
    .issuedAgainTitle: Phrase("This code was issued already", "Ten kod już został wydany"),
    .issuedAgainText: Phrase(
      """
      The form was sent twice, and only one code was issued. It was shown once. If it is lost, end it and \
      issue another.
      """,
      """
      Formularz wysłano dwa razy, a wydano tylko jeden kod. Został pokazany raz. Jeśli go nie ma, \
      unieważnij go i wydaj inny.
      """
    ),
    .badDate: Phrase(
      "The day must be written as YYYY-MM-DD.",
      "Dzień należy zapisać jako RRRR-MM-DD."
    ),
    .batchTitle: Phrase("Issue many codes", "Wydaj wiele kodów"),
    .batchCard: Phrase("From a list of a laboratory, as CSV.", "Z listy laboratorium, jako CSV."),
    .batchLead: Phrase(
      """
      One line for each person: your own reference, the test (confirmed or likely), the first day of \
      symptoms. The last may be empty.
      """,
      """
      Jeden wiersz na osobę: własne oznaczenie, test (potwierdzony lub prawdopodobny), pierwszy dzień objawów. \
      Ostatnie może być puste.
      """
    ),
    .batchReference: Phrase(
      """
      The reference only comes back beside the code. Do not use names: choose a number that tells nothing \
      to others.
      """,
      "Oznaczenie wraca tylko obok kodu. Nie używaj nazwisk: wybierz numer, który innym nic nie mówi."
    ),
    .batchFile: Phrase("CSV file", "Plik CSV"),
    .batchText: Phrase("or paste the lines here", "lub wklej wiersze tutaj"),
    .batchShow: Phrase("Issue and show", "Wydaj i pokaż"),
    .batchDownload: Phrase("Issue and download as CSV", "Wydaj i pobierz jako CSV"),
    .batchResult: Phrase("Issued codes", "Wydane kody"),
    .batchColumnReference: Phrase("Reference", "Oznaczenie"),
    .batchColumnCode: Phrase("Code", "Kod"),
    .batchColumnExpires: Phrase("Valid until", "Ważny do"),
    .batchColumnNumber: Phrase("Number of the code", "Numer kodu"),
    .batchColumnFault: Phrase("Fault", "Błąd"),
    .batchSummary: Phrase(
      "%1 codes issued, %2 lines with a fault.",
      "Wydane kody: %1, wiersze z błędem: %2."
    ),
    .batchEmpty: Phrase(
      "There are no lines: choose a file or paste some.",
      "Brak wierszy: wybierz plik lub wklej je."
    ),
    .batchTooMany: Phrase(
      "There are more than %1 lines: send them in parts.",
      "Jest więcej niż %1 wierszy: wyślij je w częściach."
    ),
    .batchBadLine: Phrase("Line %1: %2", "Wiersz %1: %2"),
    .batchBadColumns: Phrase(
      "expected a reference, a test and a day, separated by commas, semicolons or tabs",
      "oczekiwano oznaczenia, testu i dnia, rozdzielonych przecinkami, średnikami lub tabulatorami"
    ),
    .batchBadTest: Phrase(
      "the test must be confirmed or likely",
      "test musi być: potwierdzony lub prawdopodobny (confirmed, likely)"
    ),
    .batchBadDay: Phrase(
      "the day must be YYYY-MM-DD or DD.MM.YYYY",
      "dzień musi mieć postać RRRR-MM-DD lub DD.MM.RRRR"
    ),
    .batchIssuedBefore: Phrase("issued before", "wydany wcześniej"),
    .statusTitle: Phrase("Look up a code", "Sprawdź kod"),
    .statusCard: Phrase(
      "Was it used? End it if it is lost.",
      "Czy został użyty? Unieważnij, jeśli zaginął."
    ),
    .statusLead: Phrase(
      "Enter the number of the code, not the code itself. The answer tells nothing about its owner.",
      "Wpisz numer kodu, a nie sam kod. Odpowiedź nie mówi nic o właścicielu."
    ),
    .statusButton: Phrase("Look up", "Sprawdź"),
    .statusUsed: Phrase("The code was used.", "Kod został użyty."),
    .statusUnused: Phrase(
      "The code was not used yet. It is valid until %1.",
      "Kod nie został jeszcze użyty. Jest ważny do %1."
    ),
    .statusOver: Phrase(
      "The code was not used. It expired at %1.",
      "Kod nie został użyty. Wygasł %1."
    ),
    .statusExpire: Phrase("End this code now", "Unieważnij ten kod"),
    .statusExpired: Phrase("The code was ended.", "Kod unieważniono."),
    .statusBad: Phrase(
      "A number looks like 0b1c2d3e-0000-4000-8000-000000000001.",
      "Numer wygląda tak: 0b1c2d3e-0000-4000-8000-000000000001."
    ),
  ]
}

extension Texts {
  /// A sentence of a server, or of the console itself, in the language of the page.
  func sentence(_ text: String) -> String { ServerSentences.text(text, in: language) }

  /// The reason why the verification server issues no code.
  func sentence(_ failure: VerificationFailure) -> String {
    switch failure.errorCode {
    case .invalidDate: self[.refusalDate, "\(ConsoleLimit.symptomAgeDaysMax)"]
    case .missingDate: self[.refusalNoDate]
    case .phoneNumberInvalid: self[.refusalPhone]
    case .smsQueueFull: self[.refusalSMSQueue]
    case .smsFailure: self[.refusalSMS]
    case .unsupportedTestType, .invalidTestType: self[.refusalTest]
    case .maintenanceMode: self[.refusalMaintenance]
    case .unauthorized, .codeUserUnauthorized: self[.refusalKey]
    case .quotaExceeded:
      ServerSentences.values(of: failure.error, in: Self.quotaSentence)
        .map { self[.refusalQuota, $0[0]] } ?? self[.refusalBusy]
    default: self[.refusalOther, sentence(failure.error)]
    }
  }

  /// The sentence of `QuietRefusal.quotaUsedUp`.
  private static let quotaSentence =
    "The quota of %1 codes a day is used up; retry later, or ask the operator of the server."

  /// The refusals of the verification server.
  static let refusalPhrases: [TextKey: Phrase] = [
    .refusalDate: Phrase(
      "The day must not be in the future or more than %1 days ago.",
      "Dzień nie może być w przyszłości ani dawniej niż %1 dni temu."
    ),
    .refusalNoDate: Phrase(
      "The first day of symptoms is required here.",
      "Tutaj wymagany jest pierwszy dzień objawów."
    ),
    .refusalPhone: Phrase(
      "No SMS can be sent to this number, and no code was issued. Write it with the country code: +48123456789.",
      "Na ten numer nie można wysłać SMS-a i kodu nie wydano. Podaj numer z kodem kraju: +48123456789."
    ),
    .refusalSMSQueue: Phrase(
      "Too many SMS wait to be sent, and no code was issued. Try again in a few minutes, or without a number.",
      "Zbyt wiele SMS-ów czeka na wysłanie i kodu nie wydano. Spróbuj za kilka minut albo bez numeru."
    ),
    .refusalSMS: Phrase(
      "The SMS could not be sent, and no code was issued. Try again, or without a number and read the code aloud.",
      "Nie udało się wysłać SMS-a i kodu nie wydano. Spróbuj ponownie albo bez numeru i przeczytaj kod na głos."
    ),
    .refusalTest: Phrase(
      "The server issues no codes for this kind of test.",
      "Serwer nie wydaje kodów dla tego rodzaju testu."
    ),
    .refusalMaintenance: Phrase(
      "The verification server is under maintenance. Try again later.",
      "Trwa konserwacja serwera weryfikacji. Spróbuj później."
    ),
    .refusalKey: Phrase(
      "The verification server does not accept the console's API key. Tell an administrator.",
      "Serwer weryfikacji nie przyjmuje klucza API konsoli. Powiadom administratora."
    ),
    .refusalQuota: Phrase(
      "The quota of the day, %1 codes, is used up. Try again tomorrow, or ask an administrator to raise it.",
      "Dzienny limit kodów (%1) został wyczerpany. Spróbuj jutro albo poproś administratora o jego zwiększenie."
    ),
    .refusalBusy: Phrase(
      "The verification server gets too many requests. Try again in a few minutes.",
      "Serwer weryfikacji dostaje zbyt wiele żądań. Spróbuj za kilka minut."
    ),
    .refusalOther: Phrase(
      "The verification server did not accept the request: %1",
      "Serwer weryfikacji nie przyjął żądania: %1"
    ),
  ]
}

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
      "The operator changes them in verification/settings.json and restarts the verification server.",
      "Zmienia je operator w verification/settings.json, po czym uruchamia serwer weryfikacji ponownie."
    ),
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
  ]
}
