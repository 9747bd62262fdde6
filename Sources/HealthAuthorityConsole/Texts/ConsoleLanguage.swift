/// A language of the console.
package enum ConsoleLanguage: String, CaseIterable, Sendable {
  case english = "en"
  case polish = "pl"

  /// The name of the language in that language.
  var name: String {
    switch self {
    case .english: "English"
    case .polish: "Polski"
    }
  }

  /// The language that a browser prefers (`Accept-Language`), English if it accepts none of ours.
  init(accepted header: String?) {
    let choices = (header ?? "").split(separator: ",").map { item in
      let parts = item.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap {
        Double($0.dropFirst(2))
      }
      return (tag: parts.first?.lowercased() ?? "", quality: quality ?? 1)
    }
    var best: (language: ConsoleLanguage, quality: Double)?
    for choice in choices where choice.quality > best?.quality ?? 0 {
      let primary = choice.tag.split(separator: "-").first.map(String.init) ?? ""
      guard let language = ConsoleLanguage(rawValue: primary) else { continue }
      best = (language, choice.quality)
    }
    self = best?.language ?? .english
  }
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

/// The texts of one language.
struct Texts: Sendable {
  let language: ConsoleLanguage
  /// The texts by the name of their key, for templates.
  let all: [String: String]

  private init(_ language: ConsoleLanguage) {
    self.language = language
    let phrases = TextKey.allCases.map { ($0.rawValue, Self.phrases[$0]?[language] ?? "") }
    all = Dictionary(uniqueKeysWithValues: phrases)
  }

  /// The text of `key` with `values` in the places of `%1`, `%2`.
  subscript(_ key: TextKey, _ values: String...) -> String {
    var text = all[key.rawValue] ?? ""
    for (index, value) in values.enumerated() {
      text = text.replacing("%\(index + 1)", with: value)
    }
    return text
  }

  /// The texts of `language`.
  static func of(_ language: ConsoleLanguage) -> Texts {
    language == .polish ? polish : english
  }

  /// The phrases of all groups.
  static let phrases: [TextKey: Phrase] = [
    commonPhrases, signInPhrases, codePhrases, accountPhrases, observationPhrases,
    configurationPhrases, administrationPhrases,
  ].reduce(into: [:]) { $0.merge($1) { $1 } }

  private static let english = Texts(.english)
  private static let polish = Texts(.polish)
}
