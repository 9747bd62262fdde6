import Foundation

/// A language of the class's pages.
enum ClassLanguage: String, CaseIterable, Sendable {
  case english = "en"
  case polish = "pl"

  /// The language that a browser prefers, by its header `Accept-Language`; English if it accepts none of ours.
  init(accepted header: String?) {
    var best: (language: ClassLanguage, quality: Double)?
    for item in (header ?? "").split(separator: ",") {
      let parts = item.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
      let primary = parts.first?.split(separator: "-").first.map(String.init) ?? ""
      guard let language = ClassLanguage(rawValue: primary) else { continue }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }
      let value = quality.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      if value > best?.quality ?? 0 { best = (language, value) }
    }
    self = best?.language ?? .english
  }
}

/// A text with its values, before a language is chosen.
indirect enum ClassPhrase: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The same in every language: a number, an address, a PIN.
  case verbatim(String)
  /// A text of the catalogue. `{name}` in it is replaced by the value of that name.
  case text(ClassText, [String: ClassPhrase])

  init(stringLiteral text: String) { self = .verbatim(text) }

  init(_ number: Int) { self = .verbatim("\(number)") }

  /// The text in a language.
  func text(in language: ClassLanguage) -> String {
    switch self {
    case .verbatim(let text): text
    case .text(let text, let values):
      values.reduce(text.text(in: language)) {
        $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value.text(in: language))
      }
    }
  }
}

extension ClassText {
  /// The text with its values, before a language is chosen.
  func with(_ values: [String: ClassPhrase] = [:]) -> ClassPhrase { .text(self, values) }

  /// The text in a language, without values.
  func text(in language: ClassLanguage) -> String {
    switch language {
    case .english: rawValue
    case .polish: Self.polish[self] ?? rawValue
    }
  }
}
