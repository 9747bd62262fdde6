// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

/// The properties of a display that a page can ask for.
public struct EmulatedDisplay: Sendable, Hashable {
  /// The colors that a person has chosen.
  public enum Colors: String, Sendable, CaseIterable {
    case light, dark
    /// A palette of the operating system, on a dark background.
    case forced
  }

  public var colors: Colors
  /// The width in CSS pixels.
  public var width: Int
  public var height: Int
  public var reducesMotion: Bool

  public init(
    colors: Colors = .light, width: Int = Browser.defaultSize.width,
    height: Int = Browser.defaultSize.height, reducesMotion: Bool = true
  ) {
    self.colors = colors
    self.width = width
    self.height = height
    self.reducesMotion = reducesMotion
  }
}

extension Browser {
  /// Changes colors, size and motion without loading the page again.
  ///
  /// - Parameters:
  ///   - scale: The device pixels per CSS pixel, for screenshots.
  ///   - before: The display until now, if it is known: only differences are sent.
  public func emulate(
    _ display: EmulatedDisplay, scale: Double = 1, instead before: EmulatedDisplay? = nil
  ) async throws {
    if before?.colors != display.colors || before?.reducesMotion != display.reducesMotion {
      try await emulateMedia(display)
    }
    try await devTools(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": .number(Double(display.width)), "height": .number(Double(display.height)),
        "deviceScaleFactor": .number(scale), "mobile": false,
      ])
  }

  private func emulateMedia(_ display: EmulatedDisplay) async throws {
    func feature(_ name: JSONValue, _ value: JSONValue) -> JSONValue {
      ["name": name, "value": value]
    }
    try await devTools(
      "Emulation.setEmulatedMedia",
      [
        "features": [
          feature("prefers-color-scheme", display.colors == .light ? "light" : "dark"),
          feature("forced-colors", display.colors == .forced ? "active" : "none"),
          feature("prefers-reduced-motion", display.reducesMotion ? "reduce" : "no-preference"),
        ]
      ])
  }

  /// Cuts or restores the network of the page. Its service worker is not affected.
  public func setOffline(_ isOffline: Bool) async throws {
    try await devTools("Network.enable")
    try await devTools(
      "Network.emulateNetworkConditions",
      [
        "offline": .bool(isOffline), "latency": 0, "downloadThroughput": -1,
        "uploadThroughput": -1,
      ])
  }

  /// Allows or forbids the scripts of pages that are loaded from now on. Commands of tests run all the same.
  public func setScripts(areAllowed: Bool) async throws {
    try await devTools("Emulation.setScriptExecutionDisabled", ["value": .bool(!areAllowed)])
  }

  /// A PNG image of the page in a window as high as the page, so that a bar at the bottom of the window is at the
  /// bottom of the image.
  public func picture(in display: EmulatedDisplay, scale: Double = 1) async throws -> Data {
    try await emulate(display, scale: scale)
    let height = try await script("return document.documentElement.scrollHeight")
    var whole = display
    whole.height = max(display.height, height.integer ?? 0)
    try await emulate(whole, scale: scale)
    return try await fullScreenshot()
  }

  /// Stores pictures of the whole page: on a phone, on a phone in the dark, and on a desktop.
  public func storePictures(as name: String) async throws {
    let phone = EmulatedDisplay(width: 390, height: 844)
    let dark = EmulatedDisplay(colors: .dark, width: 390, height: 844)
    try Self.store(try await picture(in: phone, scale: 2), as: "\(name)-phone")
    try Self.store(try await picture(in: dark, scale: 2), as: "\(name)-phone-dark")
    try Self.store(try await picture(in: EmulatedDisplay()), as: "\(name)-desktop")
  }

  /// The folder for pictures of pages; nil if none are wanted.
  public static let pictureFolder = ProcessInfo.processInfo
    .environment["FIREBREAK_SCREENSHOTS"].map { URL(fileURLWithPath: $0) }

  /// Writes a picture to that folder.
  public static func store(_ picture: Data, as name: String) throws {
    guard let folder = pictureFolder else { return }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try picture.write(to: folder.appendingPathComponent("\(name).png"))
  }

  /// The whole page as a PNG image, also the part below the window.
  public func fullScreenshot() async throws -> Data {
    let image = try await devTools(
      "Page.captureScreenshot", ["format": "png", "captureBeyondViewport": true])
    return Data(base64Encoded: image["data"].string ?? "") ?? Data()
  }
}
