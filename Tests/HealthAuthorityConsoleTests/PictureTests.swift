// SPDX-License-Identifier: Apache-2.0
import QRCodes
import Testing

@testable import HealthAuthorityConsole

/// Pictures on the console's pages.
@Suite struct PictureTests {
  @Test("The picture of a QR code has a title and a border of four modules")
  func code() throws {
    let code = try #require(QRCode("A"))
    let svg = Picture.svg(of: code, title: "a \"b\" <c> \"\u{301}")
    #expect(svg.contains("aria-label=\"a &quot;b&quot; &lt;c&gt; &quot;\u{301}\""))
    #expect(svg.contains("viewBox=\"0 0 29 29\"") && svg.contains("M4 4h7v1h-7z"))
  }

  @Test("A chart has a bar with a label for each value, and the highest one has the full height")
  func chart() {
    let svg = Picture.chart(
      title: "Codes",
      columns: ["Monday", "Tuesday"],
      series: [
        Picture.Series(name: "issued", values: [10, 40], labels: ["10", "40"]),
        Picture.Series(name: "used", values: [0, 20], labels: ["<10", "20"]),
      ])
    #expect(svg.matches(of: /<rect class="bar series-1"/).count == 2)
    #expect(svg.matches(of: /<rect class="bar series-2"/).count == 2)
    #expect(svg.contains("height=\"72\"") && svg.contains("height=\"36\""))
    #expect(svg.contains(">&lt;10</text>") && svg.contains(">Tuesday</text>"))
  }
}
