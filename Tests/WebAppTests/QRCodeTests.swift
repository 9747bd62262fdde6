// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension DemonstrationSuite {
  @Suite("QR codes of the web app", .needs(.browser), SharedDecoderPage())
  struct QRCodeTests {
    @Test(
      "Codes of other encoders are read, turned, mirrored, tilted, blurred, noisy, shaded and pale",
      .timeLimit(.minutes(Patience.minutes)))
    func symbols() async throws {
      let symbols = QRSymbol.all
      #expect(symbols.count == 14)
      let views: [JSONValue] = [
        [:], ["roll": 30], ["roll": 100], ["roll": 180], ["roll": 200, "isMirrored": true],
        ["roll": 15, "tilt": 35, "turn": -25], ["roll": -70, "tilt": -30, "turn": 30],
        ["roll": 10, "blur": 1], ["roll": 5, "noise": 30], ["roll": 45, "shade": 0.7],
        ["roll": 3, "tilt": 20, "blur": 0.8, "noise": 12],
        ["roll": 12, "dark": 120, "light": 160],
      ]
      try await withDecoder { (decoder) async throws in
        for view in views {
          try await decoder.expectTexts(
            of: symbols, drawnBy: "draw(rows, { module, ...more })", view)
        }
      }
    }

    @Test(
      "Codes that are light on dark are read in all four rotations, also in a small size",
      .timeLimit(.minutes(Patience.minutes)))
    func inverted() async throws {
      let rolls: [Double] = [0, 90, 180, 270]
      try await withDecoder { (decoder) async throws in
        for roll in rolls {
          for module in [6.0, 3.0] {
            let view: JSONValue = [
              "roll": .number(roll), "module": .number(module), "dark": 255, "light": 10,
            ]
            try await decoder.expectTexts(
              of: QRSymbol.all, drawnBy: "draw(rows, { ...more })", view)
          }
        }
      }
    }

    @Test(
      "As many wrong codewords are corrected as the standard says, and one more is never misread",
      .timeLimit(.minutes(Patience.minutes)))
    func damage() async throws {
      let correctable = ["1-L": 2, "1-M": 4, "1-Q": 6, "1-H": 8, "2-L": 4]
      let drawing = "draw(damaged(rows, more.count), { module, roll: 4 })"
      try await withDecoder { (decoder) async throws in
        for (name, most) in correctable {
          let symbol = try #require(QRSymbol.named(name))
          for count in 0...most {
            try await decoder.expectTexts(
              of: [symbol], drawnBy: drawing, ["count": .number(Double(count))])
          }
          let texts = try await decoder.read(
            drawing, [symbol], ["count": .number(Double(most + 1))])
          #expect(texts == [.null], "\(name)")
        }
      }
    }

    @Test(
      "A damaged format and a covered middle do not matter",
      .timeLimit(.minutes(Patience.minutes)))
    func covered() async throws {
      try await withDecoder { (decoder) async throws in
        try await decoder.expectTexts(
          of: QRSymbol.all, drawnBy: "draw(withDamagedFormat(rows), { module, roll: 4 })")
        let robust = try ["1-H", "6-H", "10-H", "4-Q", "5-Q"].map {
          try #require(QRSymbol.named($0))
        }
        try await decoder.expectTexts(
          of: robust, drawnBy: "draw(covered(rows, 0.3), { module, roll: 4 })")
      }
    }

    @Test(
      "A picture without a code has no text", .timeLimit(.minutes(Patience.minutes)))
    func none() async throws {
      let drawings = [
        "drawNoise(0, 255)", "drawNoise(200, 200)", "drawNoise(0, 0)",
        // The finder patterns of a code without its data, and the data without the finder patterns.
        "draw(withoutParts(rows, (row, column) => row > 8 && column > 8), { module })",
        "draw(withoutParts(rows, (row, column) => column < 9), { module })",
      ]
      let symbol = try #require(QRSymbol.named("3-L"))
      try await withDecoder { (decoder) async throws in
        for drawing in drawings {
          #expect(try await decoder.read(drawing, [symbol]) == [.null], "\(drawing)")
        }
      }
    }

    /// Opens the app, in which the decoder can be called.
    private func withDecoder(_ body: (Decoder) async throws -> Void) async throws {
      let shared = try #require(SharedDecoderPage.current)
      let browser = shared.browser
      // Nothing of the page of another test is left.
      try await browser.open("about:blank")
      _ = try await browser.errorLog()
      try await browser.open(shared.phone, expecting: "welcome")
      try await body(Decoder(browser: browser, drawing: try QRSymbol.drawing()))
      #expect(try await browser.errorLog() == [])
    }
  }
}

/// Runs one phone and one browser for all tests of the suite: they call a function of the page, and change neither.
private struct SharedDecoderPage: SuiteTrait, TestScoping {
  @TaskLocal static var current: (browser: Browser, phone: WebPhone)?

  func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let scene = try await WebAppScene()
    try await scene.phone.serving { phone in
      try await Browser.withRunning { browser in
        try await Self.$current.withValue((browser, phone)) { try await function() }
      }
    }
  }
}

/// The decoder in a page of the app.
private struct Decoder {
  /// The width of a drawn code in pixels, at most, and of a module.
  private static let codeMax = 300
  private static let moduleMax = 6

  let browser: Browser
  let drawing: String

  /// Expects that the text of each symbol is found in the picture that `expression` draws of it.
  func expectTexts(
    of symbols: [QRSymbol], drawnBy expression: String, _ more: JSONValue = [:]
  ) async throws {
    let texts = try await read(expression, symbols, more)
    #expect(texts.count == symbols.count)
    for (symbol, text) in zip(symbols, texts) {
      #expect(text == .string(symbol.text), "\(symbol.name): \(expression) with \(more)")
    }
  }

  /// The text that is found in each picture: `expression` draws one from `rows`, `module` and `more`. One script reads
  /// them all, because the browser compiles the functions of every script.
  func read(
    _ expression: String, _ symbols: [QRSymbol], _ more: JSONValue = [:]
  ) async throws -> [JSONValue] {
    let codes = symbols.map { symbol -> JSONValue in
      let module = min(Double(Self.moduleMax), Double(Self.codeMax) / Double(symbol.rows.count))
      return [
        "rows": .array(symbol.rows.map(JSONValue.string)), "module": .number(module),
      ]
    }
    return try await browser.script(
      """
      \(drawing)
      const [codes, more] = arguments;
      return import(`${location.origin}/app/qr/read.js`)
        .then(({ readCode }) => codes.map(({ rows, module }) => readCode(\(expression))));
      """, .array(codes), more
    ).elements
  }
}
