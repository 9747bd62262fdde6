// SPDX-License-Identifier: Apache-2.0
import Browser
import Testing
import TextEncodings

/// A page that violates one rule, and the rule.
private struct BadPage: CustomTestStringConvertible, Sendable {
  let rule: String
  let body: String
  var style = ""
  var width = 320
  var colors = EmulatedDisplay.Colors.light

  var testDescription: String { rule }

  static let all: [BadPage] = [
    BadPage(
      rule: "target-size", body: "<button>1</button><button>2</button>",
      style: "button { width: 20px; height: 20px; padding: 0; margin: 0; border: 0 }"),
    BadPage(rule: "reflow", body: #"<p style="width: 400px">Wide</p>"#),
    BadPage(
      rule: "text-spacing",
      body: #"<p style="width: 100px; white-space: nowrap; overflow: hidden">Some text of it</p>"#),
    BadPage(
      rule: "resize-text", body: #"<p style="height: 24px; overflow: hidden">Some text</p>"#,
      width: 1280),
    BadPage(
      rule: "forced-colors",
      body: #"<p style="forced-color-adjust: none; color: #333; background: #000">Dark</p>"#,
      colors: .forced),
    BadPage(
      rule: "focus-visible", body: #"<a href="https://example.org">Link</a>"#,
      style: "a:focus { outline: none }"),
    BadPage(
      rule: "focus-visible", body: #"<a href="https://example.org">Link</a>"#,
      style: "a:focus { outline: 2px solid #eee }"),
    BadPage(
      rule: "focus-not-obscured", body: #"<div class="cover"></div><button>Below</button>"#,
      style: ".cover { position: fixed; inset: 0; background: #fff }"),
    BadPage(
      rule: "focus-order", body: #"<button tabindex="2">One</button>"#),
    BadPage(
      rule: "field-contrast", body: #"<label>Name <input></label>"#,
      style: "input { border: 1px solid #ddd; background: #fff }"),
    BadPage(rule: "label-in-name", body: #"<button aria-label="Delete">Remove</button>"#),
    BadPage(rule: "dragging", body: #"<p draggable="true">Drag me</p>"#),
    BadPage(
      rule: "reduced-motion", body: "<p>Moves</p>",
      style: "@keyframes f { to { opacity: 0.5 } } p { animation: f 1s infinite }"),
    BadPage(
      rule: "accessible-authentication",
      body: """
        <label>PIN <input autocomplete="one-time-code" onpaste="event.preventDefault()"></label>
        """),
    BadPage(rule: "input-purpose", body: #"<label>PIN <input name="pin"></label>"#),
    BadPage(rule: "one-heading", body: "<h1>Two</h1>"),
    BadPage(rule: "heading-order", body: "<h3>Deep</h3>"),
    BadPage(rule: "translated", body: "<p>home.risk.high.title</p>"),
    BadPage(rule: "translated", body: "<p>You have {count} exposures</p>"),
    BadPage(
      rule: "axe image-alt", body: #"<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">"#),
    BadPage(rule: "axe color-contrast", body: #"<p style="color: #aaa">Pale</p>"#),
  ]
}

extension BrowserSuite.PageChecksTests {

  @Test("A good page has no violation, at both widths and in all colors")
  func good() async throws {
    let page = try TestPage(
      """
      <main><h1>One</h1><h2>Two</h2><p>Text with a <a href="#a">link</a> in it.</p>
      <label>PIN <input autocomplete="one-time-code"></label><button>Send</button></main>
      """, style: "body { color-scheme: light dark; background: Canvas; color: CanvasText }")
    try await Browser.withRunning { browser in
      try await browser.open(page.address)
      for colors in EmulatedDisplay.Colors.allCases {
        for width in [320, 1280] {
          try await browser.emulate(EmulatedDisplay(colors: colors, width: width))
          let violations = try await browser.accessibilityViolations()
          #expect(violations.isEmpty, "\(colors) \(width): \(violations)")
        }
      }
      // The next page can load axe without receiving it again.
      try await browser.open(page.address)
      let types = "return [typeof window.axe, typeof window.firebreakLoadAxe]"
      #expect(try await browser.script(types) == ["undefined", "function"])
      #expect(try await browser.axeViolations().isEmpty)
      #expect(try await browser.script(types) == ["object", "function"])
    }
  }

  @Test("Every check finds the page that violates its rule")
  func bad() async throws {
    try await Browser.withRunning { browser in
      for bad in BadPage.all {
        let page = try TestPage("<main><h1>One</h1>\(bad.body)</main>", style: bad.style)
        try await browser.open(page.address)
        try await browser.emulate(EmulatedDisplay(colors: bad.colors, width: bad.width))
        let rules = Set(try await browser.accessibilityViolations().map(\.rule))
        #expect(rules.contains(bad.rule), "\(bad.body) has \(rules)")
      }
    }
  }

  @Test("The checks leave scroll position, focus and style as they were")
  func undone() async throws {
    let page = try TestPage(
      """
      <main><h1>One</h1><p style="height: 2000px">Text</p><button>First</button>
      <button id="last">Last</button></main>
      """)
    try await Browser.withRunning { browser in
      try await browser.open(page.address)
      try await browser.script("last.focus(); scrollTo(0, 100)")
      let state = "return [scrollY, document.activeElement.id, document.adoptedStyleSheets.length]"
      let before = try await browser.script(state)
      _ = try await browser.pageViolations()
      #expect(try await browser.script(state) == before)
    }
  }
}
