// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The blocks of code of Documentation/Framework.md.
struct FrameworkPage {
  /// The Package.swift of an app.
  let manifest: String
  /// The `main.swift` of the app.
  let example: String
  /// The output of the app.
  let output: String
  /// A radio outside this package.
  let radio: String
  /// The statements that show an app's notifications on a desktop.
  let desktop: String

  init() throws {
    let file = SharedData.projectRoot.appendingPathComponent("Documentation/Framework.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    let code = Self.blocks(of: text, after: "```swift\n")
    manifest = try #require(code.first { $0.hasPrefix("// swift-tools-version") })
    example = try #require(code.first { $0.hasPrefix("import ExposureNotification\n") })
    radio = try #require(code.first { $0.contains(": Radio {") })
    desktop = try #require(code.first { $0.contains("DesktopNotificationSink(") })
    output = try #require(Self.blocks(of: text, after: "prints:\n\n```\n").first)
  }

  /// The text of each block that begins with `start`.
  static func blocks(of text: String, after start: String) -> [String] {
    text.components(separatedBy: start).dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }
}
