import Foundation

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
      <script src="/class.js" defer></script>
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
    let seconds = Int(date.timeIntervalSince1970) % 86_400
    let time = String(format: "%02d:%02d", seconds / 3_600, seconds % 3_600 / 60)
    return ClassText.dayAndTime.with([
      "day": ClassPhrase(state.day(of: date)), "time": .verbatim(time),
    ])
  }
}
