// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import WebPages

/// The keys of the texts of the page for reports. Templates use them as `t.name`.
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
  var name: String { Self.catalogues[self]?.name ?? rawValue }

  /// The text; its key if the catalogue is not installed.
  subscript(_ text: ReportText) -> String {
    Self.catalogues[self]?.texts[text.rawValue] ?? text.rawValue
  }

  /// All texts by name.
  var texts: [String: String] {
    Dictionary(ReportText.allCases.map { ($0.rawValue, self[$0]) }) { $1 }
  }

  /// The catalogues that are installed beside the program, read once.
  static let catalogues: [ReportLanguage: TextCatalogue] = TextCatalogue.installed(of: target)

  /// Checks that the catalogues of all languages are installed.
  ///
  /// - Throws: `VerificationServerError.badConfiguration`.
  static func requireCatalogues() throws(VerificationServerError) {
    guard let path = TextCatalogue.missing(in: catalogues, of: target) else { return }
    throw .badConfiguration(
      "policy.offersReportPage: the texts of the page are missing or damaged (\(path)): install the"
        + " program again with its resources.")
  }

  private static let target = "VerificationServer"
}
