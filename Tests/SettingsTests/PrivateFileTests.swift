// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import TestSupport
import Testing

@testable import Settings

@Suite("A file of secrets")
struct PrivateFileTests {
  /// The secrets of a version that knows one field.
  private struct Older: Codable, Equatable {
    let key: Data
  }

  private struct Newer: Codable {
    let key: Data
    var until: Int64?
    var names: [String: [String?]]?
  }

  private let folder: TemporaryFolder
  private let file: PrivateFile

  init() throws {
    folder = try TemporaryFolder()
    file = PrivateFile(folder.path("secrets.json"))
  }

  @Test("A file with fields of a newer version is said to be newer, and not to be damaged")
  func newer() throws {
    let key = Data([1, 250, 255])
    for until: Int64? in [nil, 0, 4_000_000_000, 1 << 53] {
      try file.replace(Newer(key: key, until: until, names: ["a/b \"ż\"": ["x", nil]]))
      let error = #expect(throws: CommandFailure.self) { try file.read(Older.self) }
      let message = error?.message ?? ""
      #expect(message.contains("newer version") && message.contains("secrets.json"), "\(message)")
      #expect(try file.read(Newer.self)?.until == until)
    }
    // Without its fields an older version reads it.
    try file.replace(Newer(key: key))
    #expect(try file.read(Older.self) == Older(key: key))
  }

  @Test("A changed field is damage, whether this version knows it or not")
  func damaged() throws {
    try file.replace(Newer(key: Data([1, 250, 255]), until: 4_000_000_000))
    let text = try String(contentsOf: file.url, encoding: .utf8)
    for (old, new) in [("4000000000", "4000000001"), ("until", "untix"), ("Afr/", "Bfr/")] {
      let changed = text.replacing(old, with: new)
      try #require(changed != text)
      try Data(changed.utf8).write(to: file.url)
      let error = #expect(throws: CommandFailure.self) { try file.read(Older.self) }
      #expect(error?.message.contains("is damaged") == true, "\(old)")
    }
  }
}
