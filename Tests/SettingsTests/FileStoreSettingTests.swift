// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings
import Terminal
import TestSupport
import Testing

@Suite("Setting of the object store")
struct FileStoreSettingTests {
  private func settings(
    _ text: String, _ overrides: SettingOverrides = SettingOverrides()
  ) throws -> KeyServerSettings {
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try Data(text.utf8).write(to: file)
    return try KeyServerSettings(SettingsFile(url: file), overrides: overrides)
  }

  @Test("The option replaces the file, and there is none by default")
  func order() throws {
    let file = #"{"files": "s3://keys/a?region=eu-central-1"}"#
    #expect(try settings("{}").files == nil)
    #expect(try settings(file).files == "s3://keys/a?region=eu-central-1")
    #expect(try settings(file, SettingOverrides(files: "s3://other")).files == "s3://other")
  }

  @Test("An address with a secret or without a bucket is refused")
  func invalid() throws {
    for address in ["s3://id:secret@keys", "https://keys", "s3://"] {
      #expect(throws: CommandFailure.self) { try settings(#"{"files": "\#(address)"}"#) }
    }
  }
}
