// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import WebPages

/// The texts of the page for reports. Templates use them as `t.name`.
enum ReportText: String, CaseIterable, Sendable {
  case title, lead, languages, phone, phoneHelp, day, consent, send, storedTitle, stored
  case sentTitle, sent, sentWait
  case badPhone, badDay, noConsent, tooMany, usedUp, failed, foreign
}

/// The languages of the page for reports.
enum ReportLanguage: String, PageLanguage {
  case english = "en"
  case polish = "pl"
  case german = "de"
  case ukrainian = "uk"

  static let standard = ReportLanguage.english

  /// The language that the address of the page names, or the preferred one of the browser; otherwise English.
  init(of request: Request) {
    let chosen = request.uri.queryParameters["lang"].map(String.init)
    self =
      chosen.flatMap(ReportLanguage.init(rawValue:))
      ?? ReportLanguage(accepted: request.headers[.acceptLanguage])
  }

  /// The name of the language in itself.
  var name: String {
    switch self {
    case .english: "English"
    case .polish: "Polski"
    case .german: "Deutsch"
    case .ukrainian: "Українська"
    }
  }

  subscript(_ text: ReportText) -> String { catalogue[text] ?? "" }

  /// All texts by name.
  var texts: [String: String] {
    Dictionary(ReportText.allCases.map { ($0.rawValue, self[$0]) }) { $1 }
  }

  private var catalogue: [ReportText: String] {
    switch self {
    case .english: Self.englishTexts
    case .polish: Self.polishTexts
    case .german: Self.germanTexts
    case .ukrainian: Self.ukrainianTexts
    }
  }

  private static let englishTexts: [ReportText: String] = [
    .title: "Report your positive test",
    .lead: """
    You have a positive test and an app with exposure notifications. You get a text with a link, with which the app \
    warns the people who were near you. The app sends neither your name nor your number.
    """,
    .languages: "Language", .phone: "Your phone number",
    .phoneHelp: "With the country code, such as +48 123 456 789",
    .day: "Day of the test",
    .consent: "The test is my own, and I agree to get a text with a code at this number.",
    .send: "Send me the text",
    .storedTitle: "What is stored",
    .stored: """
    The number itself is not stored. The server keeps a value computed from it with a secret for up to 31 days, so \
    that nobody gets many codes. The text is delivered by your telephone company.
    """,
    .sentTitle: "Look at your phone",
    .sent:
      "If this number can get a code now, a text is on its way. Open its link on the phone with the app.",
    .sentWait: """
    A number gets one code in an hour. After a report whose code was used, it gets the next one in 30 days. If no text \
    comes, call your health office.
    """,
    .badPhone: "Write the number with the country code: + and 8 to 15 digits.",
    .badDay: "Choose the day of the test: not in the future, and at most 28 days ago.",
    .noConsent: "Without your consent no text is sent.",
    .tooMany: "Too many reports were sent from your network. Try again later.",
    .usedUp:
      "As many reports as this page accepts in a day were sent. Try again tomorrow, or call your health office.",
    .failed: "No text was sent, because of a fault. Try again in a few minutes.",
    .foreign: "The form was sent from another site. Nothing was done: fill it in here.",
  ]

  private static let polishTexts: [ReportText: String] = [
    .title: "Zgłoś swój pozytywny test",
    .lead: """
    Masz pozytywny wynik testu i aplikację z powiadomieniami o kontakcie. Dostaniesz SMS z linkiem, za pomocą \
    którego aplikacja ostrzeże osoby, które były blisko Ciebie. Aplikacja nie wysyła Twojego imienia ani numeru.
    """,
    .languages: "Język", .phone: "Twój numer telefonu",
    .phoneHelp: "Z kodem kraju, na przykład +48 123 456 789",
    .day: "Dzień testu",
    .consent: "To mój własny test i zgadzam się na SMS z kodem na ten numer.",
    .send: "Wyślij mi SMS",
    .storedTitle: "Co jest zapisywane",
    .stored: """
    Sam numer nie jest zapisywany. Serwer przechowuje do 31 dni wartość obliczoną z niego z użyciem sekretu, aby nikt \
    nie dostał wielu kodów. SMS dostarcza Twój operator.
    """,
    .sentTitle: "Spójrz na telefon",
    .sent:
      "Jeśli ten numer może teraz dostać kod, SMS jest w drodze. Otwórz link na telefonie z aplikacją.",
    .sentWait: """
    Numer dostaje jeden kod na godzinę. Po zgłoszeniu, którego kod wykorzystano, następny dostaje za 30 dni. Jeśli SMS \
    nie przyjdzie, zadzwoń do sanepidu.
    """,
    .badPhone: "Podaj numer z kodem kraju: + i od 8 do 15 cyfr.",
    .badDay: "Wybierz dzień testu: nie w przyszłości i najwyżej 28 dni temu.",
    .noConsent: "Bez Twojej zgody SMS nie zostanie wysłany.",
    .tooMany: "Z Twojej sieci wysłano zbyt wiele zgłoszeń. Spróbuj później.",
    .usedUp:
      "Wysłano już tyle zgłoszeń, ile ta strona przyjmuje w ciągu dnia. Spróbuj jutro albo zadzwoń do sanepidu.",
    .failed: "Z powodu błędu nie wysłano SMS-a. Spróbuj za kilka minut.",
    .foreign: "Formularz wysłano z innej strony. Nic nie zrobiono: wypełnij go tutaj.",
  ]

  private static let germanTexts: [ReportText: String] = [
    .title: "Melden Sie Ihren positiven Test",
    .lead: """
    Sie haben einen positiven Test und eine App mit Begegnungsmitteilungen. Sie erhalten eine SMS mit einem Link, mit \
    dem die App die Menschen warnt, die in Ihrer Nähe waren. Die App sendet weder Ihren Namen noch Ihre Nummer.
    """,
    .languages: "Sprache", .phone: "Ihre Telefonnummer",
    .phoneHelp: "Mit Ländervorwahl, zum Beispiel +48 123 456 789",
    .day: "Tag des Tests",
    .consent:
      "Es ist mein eigener Test, und ich bin mit einer SMS mit einem Code an diese Nummer einverstanden.",
    .send: "SMS senden",
    .storedTitle: "Was gespeichert wird",
    .stored: """
    Die Nummer selbst wird nicht gespeichert. Der Server bewahrt bis zu 31 Tage einen Wert auf, der mit einem \
    Geheimnis aus ihr berechnet ist, damit niemand viele Codes erhält. Die SMS stellt Ihr Mobilfunkanbieter zu.
    """,
    .sentTitle: "Schauen Sie auf Ihr Telefon",
    .sent: """
    Wenn diese Nummer jetzt einen Code erhalten kann, ist eine SMS unterwegs. Öffnen Sie den Link auf dem Telefon mit \
    der App.
    """,
    .sentWait: """
    Eine Nummer erhält einen Code in der Stunde. Nach einer Meldung, deren Code benutzt wurde, erhält sie den nächsten \
    in 30 Tagen. Wenn keine SMS kommt, rufen Sie Ihr Gesundheitsamt an.
    """,
    .badPhone: "Geben Sie die Nummer mit Ländervorwahl an: + und 8 bis 15 Ziffern.",
    .badDay: "Wählen Sie den Tag des Tests: nicht in der Zukunft und höchstens vor 28 Tagen.",
    .noConsent: "Ohne Ihre Einwilligung wird keine SMS gesendet.",
    .tooMany: "Aus Ihrem Netz kamen zu viele Meldungen. Versuchen Sie es später noch einmal.",
    .usedUp: """
    Für heute sind so viele Meldungen eingegangen, wie diese Seite annimmt. Versuchen Sie es morgen noch einmal, oder \
    rufen Sie Ihr Gesundheitsamt an.
    """,
    .failed:
      "Wegen eines Fehlers wurde keine SMS gesendet. Versuchen Sie es in einigen Minuten noch einmal.",
    .foreign:
      "Das Formular kam von einer anderen Seite. Nichts wurde getan: Füllen Sie es hier aus.",
  ]

  private static let ukrainianTexts: [ReportText: String] = [
    .title: "Повідомте про свій позитивний тест",
    .lead: """
    У вас позитивний тест і застосунок зі сповіщеннями про контакти. Ви отримаєте SMS із посиланням, за допомогою \
    якого застосунок попередить людей, які були поруч із вами. Застосунок не надсилає ні вашого імені, ні номера.
    """,
    .languages: "Мова", .phone: "Ваш номер телефону",
    .phoneHelp: "З кодом країни, наприклад +48 123 456 789",
    .day: "День тесту",
    .consent: "Це мій власний тест, і я погоджуюся отримати SMS із кодом на цей номер.",
    .send: "Надіслати SMS",
    .storedTitle: "Що зберігається",
    .stored: """
    Сам номер не зберігається. Сервер до 31 дня зберігає значення, обчислене з нього за допомогою секрету, щоб ніхто \
    не отримав багато кодів. SMS доставляє ваш оператор.
    """,
    .sentTitle: "Погляньте на телефон",
    .sent:
      "Якщо цей номер зараз може отримати код, SMS уже надіслано. Відкрийте посилання на телефоні із застосунком.",
    .sentWait: """
    Номер отримує один код на годину. Після повідомлення, код якого використано, наступний він отримує через 30 днів. \
    Якщо SMS не надійде, зателефонуйте до санітарної служби.
    """,
    .badPhone: "Вкажіть номер із кодом країни: + і від 8 до 15 цифр.",
    .badDay: "Виберіть день тесту: не в майбутньому і не більше ніж 28 днів тому.",
    .noConsent: "Без вашої згоди SMS не буде надіслано.",
    .tooMany: "З вашої мережі надійшло забагато повідомлень. Спробуйте пізніше.",
    .usedUp: """
    Надійшло стільки повідомлень, скільки ця сторінка приймає за день. Спробуйте завтра або зателефонуйте до \
    санітарної служби.
    """,
    .failed: "Через помилку SMS не надіслано. Спробуйте за кілька хвилин.",
    .foreign: "Форму надіслано з іншого сайту. Нічого не зроблено: заповніть її тут.",
  ]
}
