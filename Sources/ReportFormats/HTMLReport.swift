// SPDX-License-Identifier: Apache-2.0
import TextEncodings

/// A report as one HTML page without scripts and references to other files, for screens from 320 px on and for paper.
///
/// Tables, cards in `<div class="cards">` with an `<article>` each, and drawings with a `.frame` have styles.
package struct HTMLReport: Sendable {
  private let title: String
  private let content: String
  private let style: String

  /// Creates a page.
  ///
  /// - Parameters:
  ///   - title: The title as plain text.
  ///   - content: HTML for the page below the title.
  ///   - style: CSS that is added to that of all reports, such as the colors of curves.
  package init(title: String, content: String, style: String) {
    self.title = HTMLText.escaped(title)
    self.content = content
    self.style = style
  }

  /// The text of the page.
  package var html: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>\(title)</title>
    <style>\(Self.style)\(style)</style>
    </head>
    <body>
    <main>
    <h1>\(title)</h1>
    \(content)
    </main>
    </body>
    </html>

    """
  }

  private static let style = """

    :root { color-scheme: light dark; --line: #8885; }
    * { box-sizing: border-box; }
    body {
      margin: 0; background: Canvas; color: CanvasText; font: 1rem/1.45 system-ui, sans-serif;
      overflow-wrap: anywhere;
    }
    main { max-width: 72rem; margin: 0 auto; padding: 1rem; }
    h1 { margin: 0 0 .5rem; } h2 { margin: 2rem 0 .5rem; } h3 { margin: 0; font-size: 1.05rem; }
    table { width: 100%; border-collapse: collapse; font-size: .9rem; }
    th, td { padding: .3rem .25rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: normal; }
    th { text-align: left; font-weight: 600; } td { text-align: right; font-variant-numeric: tabular-nums; }
    thead th { font-size: .8rem; vertical-align: bottom; } thead th:not(:first-child) { text-align: right; }
    tbody th { overflow-wrap: anywhere; }
    small { display: block; font-weight: 400; font-size: .8rem; opacity: .8; }
    .cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 16rem), 1fr)); }
    article { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; }
    article p { margin: .2rem 0; }
    svg { width: 100%; height: auto; display: block; margin: .25rem auto; }
    .frame { fill: none; stroke: var(--line); }
    @media (max-width: 24rem) {
      main { padding: .75rem; } th, td { padding-inline: .1rem; } thead th { font-size: .75rem; }
    }
    @media print {
      :root { color-scheme: light; } main { max-width: none; padding: 0; } body { font-size: 10pt; }
      article, tr { break-inside: avoid; } h2, h3 { break-after: avoid; } thead { display: table-header-group; }
    }

    """
}

/// Text for HTML.
package enum HTMLText {
  /// The text with the characters replaced that have a meaning in HTML.
  package static func escaped(_ text: String) -> String {
    text.replacingScalars(entities)
  }

  private static let entities: [Unicode.Scalar: String] = [
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
  ]
}

/// Text for comma-separated values.
package enum CSVText {
  /// The text as a field of RFC 4180, in quotation marks if it has commas, quotation marks or line breaks.
  package static func field(_ text: String) -> String { field(text, separators: ",") }

  /// The text as a field, in quotation marks if it has a separator of some country, a quotation mark or a line break.
  ///
  /// - Parameter separators: The characters at which programs may separate fields.
  package static func field(_ text: String, separators: String) -> String {
    let needsQuotes = text.containsScalar {
      $0 == "\"" || lineBreaks.contains($0) || separators.unicodeScalars.contains($0)
    }
    return needsQuotes ? "\"\(text.replacingScalars(["\"": "\"\""]))\"" : text
  }

  private static let lineBreaks: Set<Unicode.Scalar> = [
    "\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}",
  ]
}
