// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import WebPages

@testable import Classroom

@Suite("Texts of a class") struct ClassTextTests {
  @Test("Every text has a translation with the same placeholders")
  func complete() {
    let faults = TextCatalogue.faults(
      of: ClassText.catalogues, keys: Set(ClassText.allCases.map(\.rawValue)),
      placeholder: /\{\w+\}/)
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test("Every text is used by a page")
  func used() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/Classroom")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    let source = (files?.compactMap { $0 as? URL } ?? [])
      .filter { $0.pathExtension == "swift" && !$0.lastPathComponent.hasPrefix("ClassText") }
      .compactMap { try? String(contentsOf: $0, encoding: .utf8) }.joined()
    for text in ClassText.allCases {
      #expect(
        try source.contains(Regex("\\.\(text)(?![A-Za-z0-9])")), "\(text) is not used: remove it")
    }
  }

  @Test("Values are put into a text and escaped, also those that are texts themselves")
  func values() {
    let missed = ClassText.outcomeMissed.with(["reason": ClassText.reasonPhoneOff.with()])
    #expect(missed.text(in: .english) == "missed: one of the two phones was off")
    #expect(missed.text(in: .polish) == "pominięta: jeden z dwóch telefonów był wyłączony")
    let html: HTML = "<p>\(.shareFailed, ["reason": "<b> & \"c\" \"\u{301}"])</p><i>\(3)</i>"
    #expect(
      html.text(in: .english)
        == "<p>The upload failed: &lt;b&gt; &amp; &quot;c&quot; &quot;\u{301}</p><i>3</i>")
  }
}
