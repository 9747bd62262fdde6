// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import Settings
import Terminal
import TestSupport
import Testing

@Suite("The encoding of settings files")
struct SettingsFileTests {
  private func read(_ text: String) throws -> KeyServerSettings {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try Data(text.utf8).write(to: file)
    return try KeyServerSettings(SettingsFile(url: file), overrides: SettingOverrides())
  }

  @Test("A byte order mark before the settings is skipped")
  func byteOrderMark() throws {
    let settings = try read("\u{feff}{\"region\": \"CZ\"}\r\n")
    #expect(settings.configuration.region == "CZ")
  }

  @Test("Behind a byte order mark, a field that is given twice is found")
  func duplicateField() throws {
    let failure = #expect(throws: CommandFailure.self) {
      try read("\u{feff}{\"region\": \"CZ\", \"region\": \"PL\"}")
    }
    #expect(failure?.message.contains("duplicate field") == true, "\(failure?.message ?? "")")
  }
}
