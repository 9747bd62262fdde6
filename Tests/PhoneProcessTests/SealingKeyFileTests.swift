// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import TestSupport
import Testing
import World

@testable import PhoneProcess

@Suite("The sealing key of a phone")
struct SealingKeyFileTests {
  private let temporary: TemporaryFolder
  private let folder: PhoneFolder

  init() throws {
    temporary = try TemporaryFolder()
    folder = try PhoneFolder(creating: temporary.path("phone").path)
  }

  private func write(_ count: Int, to name: String, permissions: Int = 0o600) throws -> String {
    let file = temporary.path(name)
    try Data(repeating: 7, count: count).write(to: file)
    try FileManager.default.setAttributes(
      [.posixPermissions: permissions], ofItemAtPath: file.path)
    return file.path
  }

  private func fault(_ file: SealingKeyFile) -> String {
    do throws(PhoneSetupError) {
      _ = try file.read(for: folder)
      return ""
    } catch {
      return error.description
    }
  }

  @Test("A new key is created once, with 32 bytes and mode 0600")
  func created() throws {
    let path = temporary.path("key").path
    let file = SealingKeyFile(at: path)
    try file.create(for: folder, randomness: SystemRandomness())
    let first = try Data(contentsOf: URL(fileURLWithPath: path))
    try file.create(for: folder, randomness: SystemRandomness())
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == first)
    #expect(first.count == 32 && first != Data(count: 32))
    var facts = stat()
    #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
    #expect(fault(file).isEmpty)
  }

  @Test("A lost key is not replaced while the phone has data")
  func lost() throws {
    try Data("x".utf8).write(to: folder.framework.appendingPathComponent("keys"))
    let file = SealingKeyFile(at: temporary.path("key").path)
    #expect(throws: PhoneSetupError.self) {
      try file.create(for: folder, randomness: SystemRandomness())
    }
    #expect(!FileManager.default.fileExists(atPath: temporary.path("key").path))
    #expect(fault(file).contains("does not exist"))
  }

  @Test("A key inside the phone's folder is refused, also through links in either direction")
  func inside() throws {
    let inside = try write(32, to: "phone/key")
    let outside = try write(32, to: "key")
    let link = temporary.path("link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: inside)
    let back = temporary.path("phone/back").path
    try FileManager.default.createSymbolicLink(atPath: back, withDestinationPath: outside)
    let alias = temporary.path("alias").path
    try FileManager.default.createSymbolicLink(
      atPath: alias, withDestinationPath: folder.url.path)
    for path in [inside, link, back, alias + "/key"] {
      #expect(fault(SealingKeyFile(at: path)).contains("inside"), "\(path)")
      #expect(throws: PhoneSetupError.self) {
        try SealingKeyFile(at: path).create(for: folder, randomness: SystemRandomness())
      }
    }
    #expect(fault(SealingKeyFile(at: outside)).isEmpty)
    // A folder beside it whose name only begins alike.
    let beside = temporary.path("phone-key")
    try FileManager.default.createDirectory(at: beside, withIntermediateDirectories: true)
    #expect(fault(SealingKeyFile(at: try write(32, to: "phone-key/key"))).isEmpty)
  }

  @Test("A key of another length is refused", arguments: [0, 31, 33, 64])
  func length(_ count: Int) throws {
    #expect(fault(SealingKeyFile(at: try write(count, to: "key"))).contains("exactly 32 bytes"))
  }

  @Test("A key that other users can read is refused", arguments: [0o640, 0o604, 0o620, 0o644])
  func permissions(_ mode: Int) throws {
    let file = SealingKeyFile(at: try write(32, to: "key", permissions: mode))
    #expect(fault(file).contains("chmod 600"))
  }

  @Test("A systemd credential may have mode 0440, because systemd grants access through an ACL")
  func credential() throws {
    let path = try write(32, to: "key", permissions: 0o440)
    #expect(fault(SealingKeyFile(at: path, origin: .credential)).isEmpty)
    let open = try write(32, to: "open", permissions: 0o444)
    #expect(!fault(SealingKeyFile(at: open, origin: .credential)).isEmpty)
  }

  @Test("A folder or a pipe is not a key")
  func noFile() throws {
    let pipe = temporary.path("pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(fault(SealingKeyFile(at: pipe)).contains("regular file"))
    #expect(!fault(SealingKeyFile(at: temporary.url.path)).isEmpty)
  }

  @Test("A folder that other users can change is refused")
  func openFolder() throws {
    let path = temporary.path("open").path
    _ = try PhoneFolder(creating: path)
    #expect(chmod(path, 0o770) == 0)
    #expect(throws: PhoneSetupError.self) { try PhoneFolder(existing: path) }
    #expect(chmod(path, 0o755) == 0)
    _ = try PhoneFolder(existing: path)
  }

  @Test("One process at a time has the folder")
  func lock() throws {
    var first: HeldFolderLock? = try folder.lock()
    #expect(first != nil)
    #expect(try folder.lock() == nil)
    first = nil
    #expect(try folder.lock() != nil)
  }
}
