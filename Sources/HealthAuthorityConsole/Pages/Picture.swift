// SPDX-License-Identifier: Apache-2.0
import Foundation
import QRCodes
import ReportFormats

/// Pictures as SVG, which pages contain directly. They have no styles of their own: the page's style sheet colours them
/// in both color schemes.
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

  /// A bar chart with a row for each series, so that the bars of a column are below each other. All rows have the same
  /// scale, and each bar has its number.
  static func chart(title: String, columns: [String], series: [Series]) -> String {
    let (columnWidth, barWidth, barHeight, head, foot) = (64, 44, 72, 44, 12)
    // A chart with few columns is not enlarged.
    let width = columnWidth * max(14, columns.count)
    let highest = max(1, series.flatMap(\.values).max() ?? 1)
    var (content, line) = ("", 0)
    for (row, series) in series.enumerated() {
      line += head + barHeight
      content +=
        "<text class=\"row\" x=\"0\" y=\"\(line - barHeight - 28)\">\(escaped(series.name))</text>"
        + "<line class=\"axis\" x1=\"0\" y1=\"\(line)\" x2=\"\(width)\" y2=\"\(line)\"/>"
      for column in columns.indices where column < series.values.count {
        let bar = max(1, series.values[column] * barHeight / highest)
        let (x, y) = (column * columnWidth + (columnWidth - barWidth) / 2, line - bar)
        content += """
          <rect class="bar series-\(row + 1)" x="\(x)" y="\(y)" width="\(barWidth)" height="\(bar)"/>\
          <text class="count" x="\(x + barWidth / 2)" y="\(y - 6)">\(escaped(series.labels[column]))</text>
          """
      }
      line += foot
    }
    for (column, name) in columns.enumerated() {
      let centre = column * columnWidth + columnWidth / 2
      content +=
        "<text class=\"column\" x=\"\(centre)\" y=\"\(line + 8)\">\(escaped(name))</text>"
    }
    return """
      <svg class="chart" role="img" aria-label="\(escaped(title))" viewBox="0 0 \(width) \(line + 16)">\
      <g aria-hidden="true">\(content)</g></svg>
      """
  }

  private static func escaped(_ text: String) -> String { HTMLText.escaped(text) }
}
