import Foundation

/// Markup. Texts that are put into it are escaped, so no text becomes markup.
struct HTML: ExpressibleByStringInterpolation, Sendable {
  let text: String

  init(stringLiteral text: String) { self.text = text }

  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  /// Joins parts.
  init(_ parts: [HTML]) { text = parts.map(\.text).joined(separator: "\n") }

  /// Nothing.
  static let none: HTML = ""

  /// The pieces of a literal: its own text is markup, texts in it are escaped.
  struct Interpolation: StringInterpolationProtocol {
    fileprivate(set) var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ html: HTML) { text += html.text }
    mutating func appendInterpolation(_ parts: [HTML]) { text += HTML(parts).text }
    mutating func appendInterpolation(_ number: Int) { text += "\(number)" }
    mutating func appendInterpolation(_ string: String) { text += Self.escaped(string) }

    /// A coordinate of a picture.
    mutating func appendInterpolation(_ number: Double) {
      text += String(format: "%.1f", number)
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
  }
}
