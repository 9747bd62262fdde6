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
    let texts = TextKey.allCases.map { ($0.rawValue, Self.text($0, in: language) ?? "") }
    var all = Dictionary(uniqueKeysWithValues: texts)
    all[TextKey.zone.rawValue] = all[TextKey.zone.rawValue]?
      .replacing("%1", with: times.zoneName)
    self.all = all
  }

  var language: ConsoleLanguage { times.language }

  /// The text of `key` with `values` in the places of `%1`, `%2`.
  subscript(_ key: TextKey, _ values: String...) -> String {
    (all[key.rawValue] ?? "").filled(with: values)
  }

  /// A time in the office's zone with its abbreviation, such as `2027-01-15 09:15 CET`.
  func time(_ unixSecond: Int64) -> String { times.text(Date(unixSecond: unixSecond)) }

  /// An action of the audit log in words; the raw value, which the log has, if there are none.
  func action(_ rawValue: String) -> String {
    Self.catalogues[language]?.texts[Self.actionPrefix + rawValue] ?? rawValue
  }

  /// The beginning of the keys of actions in the catalogues.
  static let actionPrefix = "action."

  /// The text of a key without values; nil if the catalogue is not installed.
  static func text(_ key: TextKey, in language: ConsoleLanguage) -> String? {
    catalogues[language]?.texts[key.rawValue]
  }

  /// The catalogues that are installed beside the program, read once.
  static let catalogues: [ConsoleLanguage: TextCatalogue] = TextCatalogue.installed(of: target)

  /// Checks that the catalogues of all languages are installed: without them, pages would have no words.
  ///
  /// - Throws: `ConsoleError.configuration`.
  static func requireCatalogues() throws(ConsoleError) {
    guard let path = TextCatalogue.missing(in: catalogues, of: target) else { return }
    throw .configuration(
      "The texts of the console are missing or damaged (\(path)): install the program again with its"
        + " resources.")
  }

  private static let target = "HealthAuthorityConsole"

  /// English texts, for sentences that are only compared.
  static let english = Texts(.english)
}

extension String {
  /// The text with `values` in the places of `%1`, `%2`. What a value has of this form stays as it is.
  func filled(with values: [String]) -> String {
    guard !values.isEmpty else { return self }
    var (text, rest) = ("", self[...])
    while let place = rest.firstIndex(of: "%") {
      text += rest[..<place]
      let number = rest[place...].dropFirst().first?.wholeNumberValue ?? 0
      let value = values.indices.contains(number - 1) ? values[number - 1] : nil
      text += value ?? "%"
      rest = rest[place...].dropFirst(value == nil ? 1 : 2)
    }
    return text + rest
  }
}

/// A sentence of a server or a detail of the audit log in both languages. `%1` and `%2` stand for values.
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
