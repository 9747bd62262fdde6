import Foundation
import QRCodes

/// Pictures as SVG, which pages contain directly. They have no styles of their own: the page's style sheet colours
/// them, also in the dark.
enum Picture {
  /// A QR code. Readers need a light border of four modules.
  ///
  /// - Parameter title: The text for screen readers.
  static func svg(of code: QRCode, title: String) -> String {
    let border = 4
    let size = code.size + 2 * border
    return """
      <svg class="qr-code" role="img" aria-label="\(escaped(title))" viewBox="0 0 \(size) \(size)" \
      shape-rendering="crispEdges"><rect width="\(size)" height="\(size)" fill="#fff"/>\
      <path d="\(code.svgPath(border: border))" fill="#000"/></svg>
      """
  }

  /// A series of a bar chart.
  struct Series: Sendable {
    let name: String
    /// The heights, one for each column.
    let values: [Int]
    /// The texts above the bars.
    let labels: [String]
  }

  /// A bar chart with one group of bars for each column. The series differ by colour and by their order, and each bar
  /// has its number.
  static func chart(title: String, columns: [String], series: [Series]) -> String {
    let (barWidth, gap, height, top, bottom) = (34, 26, 220, 24, 30)
    let groupWidth = barWidth * max(1, series.count) + gap
    let width = groupWidth * max(1, columns.count) + gap
    let highest = max(1, series.flatMap(\.values).max() ?? 1)
    var content = ""
    for (column, name) in columns.enumerated() {
      let left = gap + column * groupWidth
      for (index, series) in series.enumerated() where column < series.values.count {
        let bar = max(1, series.values[column] * height / highest)
        let (x, y) = (left + index * barWidth, top + height - bar)
        content += """
          <rect class="bar series-\(index + 1)" x="\(x)" y="\(y)" width="\(barWidth - 4)" height="\(bar)"/>\
          <text class="count" x="\(x + barWidth / 2 - 2)" y="\(y - 6)">\(escaped(series.labels[column]))</text>
          """
      }
      let centre = left + barWidth * series.count / 2
      content +=
        "<text class=\"column\" x=\"\(centre)\" y=\"\(top + height + 20)\">\(escaped(name))</text>"
    }
    let line = top + height
    return """
      <svg class="chart" role="img" aria-label="\(escaped(title))" viewBox="0 0 \(width) \(line + bottom)">\
      <line class="axis" x1="0" y1="\(line)" x2="\(width)" y2="\(line)"/>\(content)</svg>
      """
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }
}
