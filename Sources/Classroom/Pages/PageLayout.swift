// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReportFormats
import World

/// The frame of every page.
enum PageLayout {
  /// A whole document.
  ///
  /// - Parameters:
  ///   - isLive: True if the page follows the lesson: its parts with `data-live` are loaded again after each change.
  ///     Without a script the whole page is loaded again.
  ///   - kind: The class of the body, for the style sheet.
  static func document(
    _ title: ClassPhrase, kind: String = "plain", isLive: Bool = false, content: HTML
  ) -> HTML {
    let live: HTML =
      isLive
      ? """
      <script type="module" src="/class.js"></script>
      <noscript><meta http-equiv="refresh" content="10"></noscript>
      """ : .none
    return """
      <!doctype html>
      <html lang="\(ClassText.languageCode)">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(title) · \(ClassText.className)</title>
      <link rel="icon" href="data:,">
      <link rel="stylesheet" href="/class.css">
      \(live)
      </head>
      <body class="\(kind)">
      <a class="skip" href="#main">\(ClassText.skip)</a>
      <p id="connection" role="status" data-lost="\(ClassText.offline)"></p>
      <main id="main">
      \(content)
      </main>
      </body>
      </html>
      """
  }

  /// A message with what to do.
  static func message(_ title: ClassText, _ text: ClassText, more: HTML = .none) -> HTML {
    document(
      title.with(),
      content: """
        <h1>\(title)</h1>
        <p>\(text)</p>
        \(more)
        <p><a href="/">\(ClassText.backHome)</a></p>
        """)
  }

  /// A part of the page that is loaded again after each change.
  static func live(_ id: String, _ content: HTML, isNews: Bool = false) -> HTML {
    let news: HTML = isNews ? " aria-live=\"polite\"" : ""
    return "<div id=\"\(id)\" data-live\(news)>\(content)</div>"
  }

  /// A form with one button.
  static func button(
    _ text: ClassText, action: String, values: [String: String] = [:], id: String,
    label: ClassPhrase? = nil, isQuiet: Bool = false
  ) -> HTML {
    let fields = values.sorted { $0.key < $1.key }.map { name, value -> HTML in
      "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }
    let aria: HTML = label.map { " aria-label=\"\($0)\"" } ?? ""
    return """
      <form method="post" action="\(action)">\(fields)\
      <button id="\(id)" class="\(isQuiet ? "quiet" : "main")"\(aria)>\(text)</button></form>
      """
  }

  /// A time of the lesson: day and hour.
  static func time(_ date: Date, in state: LessonState) -> ClassPhrase {
    let seconds = Int(date.unixSecond) % 86_400
    let time = String(format: "%02d:%02d", seconds / 3_600, seconds % 3_600 / 60)
    return ClassText.dayAndTime.with([
      "day": ClassPhrase(state.day(of: date)), "time": .verbatim(time),
    ])
  }
}

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
      case .phrase(let phrase): HTMLText.escaped(phrase.text(in: language))
      }
    }.joined()
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
