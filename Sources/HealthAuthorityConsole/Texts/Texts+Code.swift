// SPDX-License-Identifier: Apache-2.0
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
    .batchExampleConfirmed: Phrase("confirmed", "potwierdzony"),
    .batchExampleLikely: Phrase("likely", "prawdopodobny"),
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
    .freePhoneTitle: Phrase(
      "A person who cannot report again", "Osoba, która nie może zgłosić się ponownie"
    ),
    .freePhoneLead: Phrase(
      """
      Who reported their own test waits an hour for another code, and 30 days if they used the first one. Free the \
      number if the person needs a new code earlier, after a new infection or a mistake.
      """,
      """
      Kto zgłosił własny test, czeka na kolejny kod godzinę, a po wykorzystaniu kodu 30 dni. Zwolnij numer, jeśli \
      osoba potrzebuje nowego kodu wcześniej, po nowym zakażeniu lub pomyłce.
      """
    ),
    .freePhoneNumber: Phrase("Phone number with country code", "Numer telefonu z kodem kraju"),
    .freePhoneButton: Phrase("Free the number", "Zwolnij numer"),
    .freePhoneBad: Phrase(
      "Write the number with its country code: +48123456789.",
      "Podaj numer z kodem kraju: +48123456789."
    ),
    .freePhoneOff: Phrase(
      "The verification server accepts no reports of people about their own tests.",
      "Serwer weryfikacji nie przyjmuje zgłoszeń własnych testów."
    ),
    .freePhoneDone: Phrase(
      """
      A report from this number is accepted now, and a code that was sent to it before is no longer valid. Whether \
      there was a report is not shown.
      """,
      """
      Zgłoszenie z tego numeru zostanie teraz przyjęte, a wysłany na niego wcześniej kod stracił ważność. Nie podaje \
      się, czy zgłoszenie było.
      """
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
