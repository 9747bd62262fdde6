// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import WebPages

@testable import HealthAuthorityConsole

/// The catalogue of texts and the templates that use it.
@Suite struct TextsTests {
  @Test("Every key has a text in both languages, with the same placeholders")
  func complete() {
    let actions = AuditAction.allCases.map { Texts.actionPrefix + $0.rawValue }
    let keys = Set(TextKey.allCases.map(\.rawValue) + actions)
    let faults = TextCatalogue.faults(of: Texts.catalogues, keys: keys, placeholder: /%[1-9]/)
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test("A name that looks like the place of a value is shown as it is")
  func names() {
    #expect(
      Texts(.english)[.changeAddAuthority, "%2", "k1"] == "Accept the key k1 of the authority %2")
    let fault = CodeList.Fault(line: 3, key: .importTwice, values: ["%2", "1"])
    #expect(fault.text(Texts(.english)).contains("the name %2 is on line 1"))
    #expect(
      Texts(.polish).sentence(
        "%2 does not belong to a: move the folder away and restore both"
          + " from one backup."
      ).hasPrefix("%2 nie pasuje do a"))
  }

  @Test("Every text that a template names exists", arguments: PageTemplate.allCases)
  func templates(_ template: PageTemplate) {
    let names = (template.text + LayoutTemplate.layout).matches(of: /\{\{t\.(\w+)\}\}/).map {
      String($0.1)
    }
    #expect(!names.isEmpty)
    for name in names { #expect(TextKey(rawValue: name) != nil, "\(name)") }
  }

  @Test("Every text is used by a template or by code")
  func used() throws {
    let target = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/HealthAuthorityConsole")
    let files = ["Pages", "Lists"].flatMap { folder in
      let files = FileManager.default.enumerator(
        at: target.appendingPathComponent(folder), includingPropertiesForKeys: nil)
      return files?.compactMap { $0 as? URL } ?? []
    }
    let source = files.filter { $0.pathExtension == "swift" }
      .compactMap { try? String(contentsOf: $0, encoding: .utf8) }.joined()
    let members = Set(source.matches(of: /\.(\w+)/).map { String($0.1) })
    for key in TextKey.allCases {
      #expect(members.contains(key.rawValue), "\(key) is not used: remove it")
    }
  }

  @Test("Every action of the audit log is shown in words of both languages")
  func actions() {
    for action in AuditAction.allCases {
      #expect(Texts(.english).action(action.rawValue) != action.rawValue, "\(action)")
      #expect(Texts(.polish).action(action.rawValue) != action.rawValue, "\(action)")
    }
    #expect(Texts(.polish).action("other.action") == "other.action")
  }
}
