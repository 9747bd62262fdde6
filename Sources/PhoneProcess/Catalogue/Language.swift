import Foundation

/// A language of the phone's texts.
package enum Language: String, Codable, CaseIterable, Sendable {
  /// English, the language of keys that another catalogue lacks.
  case english = "en"
  /// Polish.
  case polish = "pl"
  /// German.
  case german = "de"
  /// Ukrainian.
  case ukrainian = "uk"

  /// The language of a locale such as `pl_PL.UTF-8`; `nil` if there is no catalogue for it.
  package init?(locale: String) {
    let code = locale.prefix { $0.isLetter }.lowercased()
    self.init(rawValue: code)
  }

  /// The first language that the environment names in `LC_ALL`, `LC_MESSAGES` or `LANG`; otherwise English.
  package init(environment: [String: String]) {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
      .first { !$0.isEmpty }
    self = locale.flatMap { Language(locale: $0) } ?? .english
  }
}

/// The plural forms of CLDR that whole numbers have in our languages. The raw values are the suffixes of keys.
package enum PluralForm: String, CaseIterable, Sendable {
  case one, few, many, other

  /// The form for `count` in `language`.
  package init(of count: Int, in language: Language) {
    let (last, lastTwo) = (count.magnitude % 10, count.magnitude % 100)
    let isFew = (2...4).contains(last) && !(12...14).contains(lastTwo)
    self =
      switch language {
      case .english, .german: count.magnitude == 1 ? .one : .other
      case .polish: count.magnitude == 1 ? .one : isFew ? .few : .many
      case .ukrainian: last == 1 && lastTwo != 11 ? .one : isFew ? .few : .many
      }
  }

  /// The forms that whole numbers have in `language`.
  package static func forms(of language: Language) -> [PluralForm] {
    switch language {
    case .english, .german: [.one, .other]
    case .polish, .ukrainian: [.one, .few, .many]
    }
  }
}
