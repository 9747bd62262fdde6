// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import TestSupport
import Testing

/// Backups that were not written by `backup`.
@Suite("Names of files in backups")
struct BackupNameTests {
  @Test(
    "A name that leads out of the folder is damage, and nothing is written there",
    arguments: [
      "../outside", "a/../../outside", "/outside", "..", "a/..", "./a", "a//b",
      // One character for Swift, and a slash for the file system.
      "../\u{301}outside", "a/../\u{301}outside", "..\u{2F}\u{200D}outside",
    ])
  func names(name: String) throws {
    let folder = try TemporaryFolder()
    let (backup, inside) = (folder.path("backup"), folder.path("inside"))
    try Self.archive(of: name, Data("abc".utf8)).write(to: backup)
    try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: false)
    #expect(throws: BackupError.damagedBackup(backup)) {
      _ = try BackupReader.extract(backup, into: inside)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names.sorted() == ["backup", "inside"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: inside.path).isEmpty)
  }

  /// A tar archive (POSIX.1-1988) of one file.
  private static func archive(of name: String, _ content: Data) -> Data {
    var header = Data(count: 512)
    func put(_ text: String, at place: Int) {
      header.replaceSubrange(place..<place + text.utf8.count, with: Data(text.utf8))
    }
    func octal(_ number: Int, _ digits: Int) -> String {
      let text = String(number, radix: 8)
      return String(repeating: "0", count: digits - text.count) + text
    }
    put(name, at: 0)
    put(octal(0o600, 7), at: 100)
    put(octal(content.count, 11), at: 124)
    put(octal(0, 11), at: 136)
    put("        0", at: 148)
    put("ustar", at: 257)
    put("00", at: 263)
    put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\0", at: 148)
    let padding = Data(count: (512 - content.count % 512) % 512)
    return header + content + padding + Data(count: 1_024)
  }
}
