// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("PIN entry by QR code")
  struct QREntryTests {
    @Test(
      "The PIN of a code before the camera is filled in, and the camera is turned off",
      .timeLimit(.minutes(Patience.minutes)))
    func camera() async throws {
      let place = try TemporaryFolder()
      let video = place.path("code.y4m")
      try #require(QRSymbol.named("4-Q")).video().write(to: video)
      let scene = try await WebAppScene(daysOfUse: 1, servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning(camera: video) { browser in
          try await browser.openFinished(phone)
          try await browser.openQREntry()
          // The decoder is loaded when it is needed.
          #expect(try await browser.script(Self.loadedDecoder) == false)
          try await browser.act("qr-camera")
          try await browser.wait(until: "document.getElementById('pin').value === 'AB1 2CD'")
          try await browser.wait(until: "document.querySelector('.camera').hidden")
          #expect(try await browser.script(Self.loadedDecoder) == true)
          #expect(try await browser.script("return document.activeElement.id") == "pin")
          #expect(try await browser.errorLog() == [])
          try await browser.act("continue", to: "share-date")
        }
      }
    }

    /// True if the page has asked for the decoder.
    private static let loadedDecoder =
      "return performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/app/qr/read.js'))"

    @Test(
      "The PIN of a chosen picture is filled in, also while the phone process is not running",
      .timeLimit(.minutes(Patience.minutes)))
    func picture() async throws {
      let place = try TemporaryFolder()
      let (code, other, text) = (
        place.path("code.bmp"), place.path("no-pin.bmp"), place.path("text.txt")
      )
      try #require(QRSymbol.named("10-H")).picture().write(to: code)
      try #require(QRSymbol.all.first { $0.text == "314159265358" }).picture().write(to: other)
      try Data("PIN AB12CD".utf8).write(to: text)
      let scene = try await WebAppScene(daysOfUse: 1, servers: .ofSuite)
      try await Browser.withRunning { browser in
        try await scene.phone.serving { phone in
          try await browser.openFinished(phone)
          try await browser.wait(until: "navigator.serviceWorker.controller")
          for file in try Self.decoderFiles() {
            try await browser.wait(
              until: "caches.match(`/app/qr/${a[0]}`)", .string(file))
          }
          try await browser.openQREntry()
        }
        // The phone process has ended.
        for (file, message) in [
          (text, "There is no QR code in this picture."), (other, "This QR code has no PIN."),
        ] {
          try await browser.type(file.path, into: "#qr-picture")
          try await browser.wait(
            until: "document.querySelector('[data-message=qr]').textContent === a[0]",
            .string(message))
        }
        try await browser.type(code.path, into: "#qr-picture")
        try await browser.wait(until: "document.getElementById('pin').value === 'XY3 4ZW'")
        #expect(
          try await browser.script("return document.querySelector('[data-message=qr]').textContent")
            == "")
      }
    }

    /// The names of the files of the decoder.
    private static func decoderFiles() throws -> [String] {
      let files = try FileManager.default.contentsOfDirectory(
        atPath: SharedData.projectRoot.appendingPathComponent("Sources/PWA/WebApp/app/qr").path)
      #expect(files.contains("read.js"))
      return files
    }

    @Test(
      "Without a camera the page says so, and the opened entry is accessible",
      .timeLimit(.minutes(Patience.minutes)))
    func noCamera() async throws {
      let scene = try await WebAppScene(daysOfUse: 1, servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await browser.openQREntry()
          try await browser.act("qr-camera")
          try await browser.wait(
            until: "document.querySelector('[data-message=qr]').textContent.startsWith(a[0])",
            "The camera cannot be used.")
          for width in [320, 1280] {
            try await browser.emulate(EmulatedDisplay(width: width))
            let violations = try await browser.accessibilityViolations()
            #expect(violations.isEmpty, "\(width): \(violations)")
          }
        }
      }
    }
  }
}

extension Browser {
  /// Goes to the entry of a PIN and opens the entry by QR code.
  fileprivate func openQREntry() async throws {
    try await go("/share", to: "share")
    try await act("qr")
    try await wait(until: "document.getElementById('qr-picture').checkVisibility()")
  }
}
