// SPDX-License-Identifier: Apache-2.0
import Foundation
import WebPages
import World

/// The texts of one language, and the times of the office in it.
struct Texts: Sendable {
  let times: OfficeTime
  /// The texts by the name of their key, for templates.
  let all: [String: String]

  /// The texts of `language` for an office in `zone`.
  init(_ language: ConsoleLanguage, zone: TimeZone = .gmt) {
    times = OfficeTime(zone: zone, language: language)
    let phrases = TextKey.allCases.map { ($0.rawValue, Self.phrases[$0]?[language] ?? "") }
    var all = Dictionary(uniqueKeysWithValues: phrases)
    all[TextKey.zone.rawValue] = all[TextKey.zone.rawValue]?
      .replacing("%1", with: times.zoneName)
    self.all = all
  }

  var language: ConsoleLanguage { times.language }

  /// The text of `key` with `values` in the places of `%1`, `%2`.
  subscript(_ key: TextKey, _ values: String...) -> String {
    var text = all[key.rawValue] ?? ""
    for (index, value) in values.enumerated() {
      text = text.replacing("%\(index + 1)", with: value)
    }
    return text
  }

  /// A time in the office's zone with its abbreviation, such as `2027-01-15 09:15 CET`.
  func time(_ unixSecond: Int64) -> String { times.text(Date(unixSecond: unixSecond)) }

  /// The phrases of all groups.
  static let phrases: [TextKey: Phrase] = [
    commonPhrases, signInPhrases, codePhrases, refusalPhrases, listPhrases, issuedPhrases,
    accountPhrases,
    observationPhrases,
    configurationPhrases, fieldPhrases, administrationPhrases, changePhrases, effectPhrases,
  ].reduce(into: [:]) { $0.merge($1) { $1 } }

  /// English texts, for sentences that are only compared.
  static let english = Texts(.english)
}

/// A text in both languages. `%1` and `%2` stand for values.
struct Phrase: Sendable {
  let english: String
  let polish: String

  init(_ english: String, _ polish: String) {
    self.english = english
    self.polish = polish
  }

  subscript(_ language: ConsoleLanguage) -> String {
    switch language {
    case .english: english
    case .polish: polish
    }
  }
}

/// A language of the console.
package enum ConsoleLanguage: String, PageLanguage {
  case english = "en"
  case polish = "pl"

  package static let standard = ConsoleLanguage.english

  /// The name of the language in that language.
  var name: String {
    switch self {
    case .english: "English"
    case .polish: "Polski"
    }
  }
}

extension Texts {
  /// The texts of all pages: the frame, common buttons and error pages.
  static let commonPhrases: [TextKey: Phrase] = [
    .console: Phrase("Health authority console", "Konsola organu sanitarnego"),
    .skip: Phrase("Skip to the content", "Przejdź do treści"),
    .menu: Phrase("Pages", "Strony"),
    .signedInAs: Phrase("Signed in as %1, %2", "Zalogowano jako %1, %2"),
    .signOut: Phrase("Sign out", "Wyloguj się"),
    .languageSwitch: Phrase("Language", "Język"),
    .home: Phrase("Start", "Start"),
    .homeLead: Phrase("Choose a task.", "Wybierz zadanie."),
    .homePaused: Phrase("Phones are paused.", "Telefony są wstrzymane."),
    .homePauseUnknown: Phrase(
      "It is not known whether phones are paused, because the servers do not answer.",
      "Nie wiadomo, czy telefony są wstrzymane, bo serwery nie odpowiadają."
    ),
    .homeKeyEnds: Phrase(
      "The signing key %1 ends at %2, and no other follows: rotate it.",
      "Klucz podpisu %1 wygasa %2, a po nim nie ma innego: wymień go."
    ),
    .homeNoKey: Phrase(
      "No signing key %1 is valid: rotate it.", "Żaden klucz podpisu %1 nie jest ważny: wymień go."
    ),
    .homeKeysUnknown: Phrase(
      "It is not known whether a signing key %1 is valid, because the servers do not answer.",
      "Nie wiadomo, czy klucz podpisu %1 jest ważny, bo serwery nie odpowiadają."
    ),
    .homeQuotaNear: Phrase(
      "%1 of the %2 codes of a day are issued. The operator raises the quota (attempts.issuesPerApiKey).",
      "Wydano %1 z %2 kodów na dobę. Limit podnosi operator (attempts.issuesPerApiKey)."
    ),
    .homeQuotaUsedUp: Phrase(
      "The quota of the day, %1 codes, is used up. The operator raises it (attempts.issuesPerApiKey).",
      "Dzienny limit kodów (%1) został wyczerpany. Podnosi go operator (attempts.issuesPerApiKey)."
    ),
    .homeQuotaUnknown: Phrase(
      "It is not known how many codes can still be issued today, because the servers do not answer.",
      "Nie wiadomo, ile kodów można dziś jeszcze wydać, bo serwery nie odpowiadają."
    ),
    .homeKeyQuotaNear: Phrase(
      "The API key %1 has issued at least %2 percent of its %3 codes of a day (attempts.issuesPerApiKey).",
      "Klucz API %1 wydał co najmniej %2 procent ze swoich %3 kodów na dobę (attempts.issuesPerApiKey)."
    ),
    .homeKeyQuotaUsedUp: Phrase(
      "The API key %1 has used up its quota of the day, %2 codes (attempts.issuesPerApiKey).",
      "Klucz API %1 wyczerpał swój dzienny limit kodów (%2, attempts.issuesPerApiKey)."
    ),
    .homeListInterrupted: Phrase(
      "A list of codes by SMS was interrupted: continue it.",
      "Lista kodów SMS-em została przerwana: kontynuuj ją."
    ),
    .back: Phrase("Back", "Wstecz"),
    .date: Phrase("Date", "Data"),
    .time: Phrase("Time", "Czas"),
    .name: Phrase("Name", "Nazwa"),
    .actions: Phrase("Actions", "Działania"),
    .status: Phrase("Status", "Status"),
    .none: Phrase("None", "Brak"),
    .unknown: Phrase("not counted", "nie zliczane"),
    .zone: Phrase("Times are in %1.", "Godziny: %1."),
    .daysInUTC: Phrase("The days are those of UTC.", "Dni liczone są w UTC."),
    .shownOnce: Phrase(
      "This is shown only once. Write it down or pass it on now.",
      "Ta informacja pojawia się tylko raz. Zapisz ją lub przekaż teraz."
    ),
    .roleIssuer: Phrase("issuer", "wydawca kodów"),
    .roleEpidemiologist: Phrase("epidemiologist", "epidemiolog"),
    .roleAdministrator: Phrase("administrator", "administrator"),
    .errorNotFoundTitle: Phrase("There is no such page", "Nie ma takiej strony"),
    .errorNotFoundText: Phrase(
      "Check the address, or choose a page from the menu.",
      "Sprawdź adres lub wybierz stronę z menu."
    ),
    .errorForbiddenTitle: Phrase("This page is for another role", "Ta strona jest dla innej roli"),
    .errorForbiddenText: Phrase(
      "Your account has the role %1, which may not use this page. If you need it, ask an administrator.",
      """
      Twoje konto ma rolę %1, która nie może korzystać z tej strony. Jeśli jej potrzebujesz, zwróć się do \
      administratora.
      """
    ),
    .errorHostTitle: Phrase("Wrong address", "Błędny adres"),
    .errorHostText: Phrase(
      "The console does not answer under this name. Open the address that its operator gave you.",
      "Konsola nie odpowiada pod tą nazwą. Otwórz adres podany przez jej operatora."
    ),
    .errorForgedTitle: Phrase(
      "The request did not come from this console",
      "Żądanie nie pochodzi z tej konsoli"
    ),
    .errorForgedText: Phrase(
      """
      Nothing was changed. Another site may have sent it, or the page was open too long. Open the page \
      again and repeat the step.
      """,
      """
      Niczego nie zmieniono. Żądanie mogła wysłać inna strona albo strona była otwarta zbyt długo. Otwórz \
      ją ponownie i powtórz czynność.
      """
    ),
    .errorOldTitle: Phrase("Sign in again first", "Najpierw zaloguj się ponownie"),
    .errorOldText: Phrase(
      "Changes of phones, keys and accounts need a sign-in of the last %1 minutes. Nothing was changed.",
      "Zmiany telefonów, kluczy i kont wymagają zalogowania w ciągu ostatnich %1 minut. Niczego nie zmieniono."
    ),
    .errorEndedTitle: Phrase("Your session has ended", "Twoja sesja wygasła"),
    .errorEndedText: Phrase(
      "You were signed out after a while without activity. Nothing was changed. Sign in again to continue.",
      """
      Nastąpiło wylogowanie po czasie bez aktywności. Niczego nie zmieniono. Zaloguj się ponownie, aby \
      kontynuować.
      """
    ),
    .errorBusyTitle: Phrase("Too many attempts", "Zbyt wiele prób"),
    .errorBusyText: Phrase(
      "Wait %1 minutes, then try again.",
      "Poczekaj %1 min i spróbuj ponownie."
    ),
    .errorFormTitle: Phrase("The form could not be read", "Nie udało się odczytać formularza"),
    .errorFormText: Phrase(
      "Go back, correct the form and send it again.",
      "Wróć, popraw formularz i wyślij go ponownie."
    ),
    .errorLargeTitle: Phrase("The file or form is too large", "Plik lub formularz jest za duży"),
    .errorLargeText: Phrase(
      "The limit is %1 kilobytes. Send it in parts.",
      "Limit wynosi %1 kB. Wyślij w częściach."
    ),
    .errorServerTitle: Phrase("A server does not answer", "Serwer nie odpowiada"),
    .errorServerText: Phrase(
      "Nothing is lost. Try again in a minute; if it lasts, tell an administrator.",
      "Nic nie zginęło. Spróbuj za minutę; jeśli problem trwa, powiadom administratora."
    ),
    .errorDatabaseTitle: Phrase("Nothing can be stored", "Nie można zapisać danych"),
    .errorDatabaseText: Phrase(
      "The database of the console is lost or damaged: nothing was stored. Tell the operator to restore it.",
      "Baza danych konsoli zaginęła lub jest uszkodzona: nic nie zapisano. Poproś operatora o jej odtworzenie."
    ),
    .errorInternalTitle: Phrase("The console failed", "Błąd konsoli"),
    .errorInternalText: Phrase(
      "The fault is not yours. Try again; if it happens again, tell an administrator.",
      "To nie Twoja wina. Spróbuj ponownie; jeśli błąd się powtórzy, powiadom administratora."
    ),
    .errorMissingTitle: Phrase("It does not exist", "To nie istnieje"),
    .errorMissingText: Phrase(
      "It was removed, or its name was mistyped.",
      "Zostało usunięte albo nazwa jest błędna."
    ),
    .errorNotOfferedTitle: Phrase("This console cannot do that", "Ta konsola tego nie umożliwia"),
    .errorRefusedTitle: Phrase("The server refused", "Serwer odmówił"),
    .toStart: Phrase("To the start page", "Do strony startowej"),
    .toSignIn: Phrase("Sign in", "Zaloguj się"),
  ]
}
