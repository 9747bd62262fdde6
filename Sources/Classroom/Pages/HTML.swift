import Foundation

/// Markup whose texts are not translated yet. Interpolated texts are escaped, so that no text becomes markup.
struct HTML: ExpressibleByStringInterpolation, Sendable {
  enum Part: Sendable {
    case markup(String)
    case phrase(ClassPhrase)
  }

  let parts: [Part]

  init(stringLiteral text: String) { parts = [.markup(text)] }

  init(stringInterpolation: Interpolation) { parts = stringInterpolation.parts }

  /// Empty markup.
  static let none: HTML = ""

  /// The markup with its texts in a language.
  func text(in language: ClassLanguage) -> String {
    parts.map { part in
      switch part {
      case .markup(let text): text
      case .phrase(let phrase): Self.escaped(phrase.text(in: language))
      }
    }.joined()
  }

  private static func escaped(_ string: String) -> String {
    string.reduce(into: "") { text, character in
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      default: text.append(character)
      }
    }
  }

  /// The interpolation of a literal: literal text is markup, interpolated texts are escaped.
  struct Interpolation: StringInterpolationProtocol {
    fileprivate(set) var parts: [Part] = []

    init(literalCapacity: Int, interpolationCount: Int) {
      parts.reserveCapacity(2 * interpolationCount + 1)
    }

    mutating func appendLiteral(_ literal: String) { parts.append(.markup(literal)) }
    mutating func appendInterpolation(_ html: HTML) { parts += html.parts }
    mutating func appendInterpolation(_ number: Int) { parts.append(.markup("\(number)")) }
    mutating func appendInterpolation(_ phrase: ClassPhrase) { parts.append(.phrase(phrase)) }
    mutating func appendInterpolation(_ text: ClassText) { parts.append(.phrase(text.with())) }

    mutating func appendInterpolation(_ text: ClassText, _ values: [String: ClassPhrase]) {
      parts.append(.phrase(text.with(values)))
    }

    mutating func appendInterpolation(_ string: String) {
      parts.append(.phrase(.verbatim(string)))
    }

    mutating func appendInterpolation(_ elements: [HTML]) {
      for (index, element) in elements.enumerated() {
        if index > 0 { parts.append(.markup("\n")) }
        parts += element.parts
      }
    }

    /// A coordinate of a picture.
    mutating func appendInterpolation(_ number: Double) {
      parts.append(.markup(String(format: "%.1f", number)))
    }
  }
}
