// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import TestSupport
import Testing
import World

@Suite("Sealed file")
struct SealedFileTests {
  let folder: TemporaryFolder
  let key = SealingKey(from: SystemRandomness())

  init() throws { folder = try TemporaryFolder() }

  private func file(
    _ name: String = "store", purpose: String = "test", key: SealingKey? = nil
  ) -> SealedFile {
    SealedFile(
      url: folder.path(name), key: key ?? self.key, purpose: purpose,
      randomness: SystemRandomness())
  }

  @Test("Content of any length is read back", arguments: [0, 1, 15, 16, 70_000])
  func roundTrip(_ count: Int) throws {
    let content = Data(SystemRandomness().bytes(count))
    try file().replace(with: content)
    #expect(try file().read() == content)
    try file().replace(with: Data("shorter".utf8))
    #expect(try file().read() == Data("shorter".utf8))
  }

  @Test("A file that was never written, or was removed, has no content")
  func absent() throws {
    #expect(try file().read() == nil)
    try file().remove()
    try file().replace(with: Data("x".utf8))
    try file().remove()
    #expect(try file().read() == nil)
    #expect(folder.files().isEmpty)
  }

  @Test("A file cannot be decrypted with another key, purpose or name")
  func wrongKey() throws {
    try file().replace(with: Data("content".utf8))
    let other = SealingKey(from: SystemRandomness())
    #expect(throws: SealedStorageError.damaged) { try file(key: other).read() }
    #expect(throws: SealedStorageError.damaged) { try file(purpose: "other").read() }
    try FileManager.default.copyItem(at: folder.path("store"), to: folder.path("copy"))
    #expect(throws: SealedStorageError.damaged) { try file("copy").read() }
    #expect(try file().read() == Data("content".utf8))
  }

  @Test("Any inverted bit and any truncation is detected")
  func damaged() throws {
    try file().replace(with: Data("content".utf8))
    let url = folder.path("store")
    let whole = try Data(contentsOf: url)
    for index in whole.indices {
      var turned = whole
      turned[index] ^= 1 << (index % 8)
      try turned.write(to: url)
      #expect(throws: SealedStorageError.damaged) { try file().read() }
      try whole.prefix(index).write(to: url)
      #expect(throws: SealedStorageError.damaged) { try file().read() }
    }
    try (whole + [0]).write(to: url)
    #expect(throws: SealedStorageError.damaged) { try file().read() }
    try whole.write(to: url)
    #expect(try file().read() == Data("content".utf8))
  }

  @Test("A damaged file is set aside, a new one is written, and removal takes both")
  func setAside() throws {
    try Data("not sealed".utf8).write(to: folder.path("store"))
    #expect(throws: SealedStorageError.damaged) { try file().read() }
    let aside = try file().setAside()
    #expect(try Data(contentsOf: aside) == Data("not sealed".utf8))
    #expect(try file().read() == nil)
    try file().replace(with: Data("new".utf8))
    #expect(try file().read() == Data("new".utf8))
    try Data("left by a power cut".utf8).write(to: folder.path(".store.unfinished-a1B2c3"))
    try file().remove()
    #expect(folder.files().isEmpty)
  }

  @Test("Leftovers of interrupted writes are removed by the next write and by removal")
  func leftovers() throws {
    let leftover = folder.path(".store.unfinished-a1B2c3")
    let unrelated = folder.path(".store2.unfinished-a1B2c3")
    try Data("unrelated".utf8).write(to: unrelated)
    for step in [{ try file().replace(with: Data("x".utf8)) }, { try file().remove() }] {
      try Data("incomplete".utf8).write(to: leftover)
      try step()
      #expect(!FileManager.default.fileExists(atPath: leftover.path))
    }
    #expect(folder.files().map(\.lastPathComponent) == [unrelated.lastPathComponent])
  }

  @Test("A file whose folder was removed between two writes is written again, with its folder")
  func removedFolder() throws {
    let deep = SealedFile(
      url: folder.path("a/b/store"), key: key, purpose: "test", randomness: SystemRandomness())
    for content in [Data("one".utf8), Data("two".utf8)] {
      try deep.replace(with: content)
      #expect(try deep.read() == content)
      try FileManager.default.removeItem(at: folder.path("a"))
    }
    try deep.replace(with: Data("three".utf8))
    #expect(try deep.read() == Data("three".utf8))
    #expect(try permissions(of: "a/b") == 0o700)
  }

  @Test("Only the first write of a value looks for leftovers, and the first of a new value again")
  func laterLeftovers() throws {
    let file = file()
    try file.replace(with: Data("x".utf8))
    let leftover = folder.path(".store.unfinished-a1B2c3")
    try Data("incomplete".utf8).write(to: leftover)
    try file.replace(with: Data("y".utf8))
    #expect(FileManager.default.fileExists(atPath: leftover.path))
    try self.file().replace(with: Data("z".utf8))
    #expect(!FileManager.default.fileExists(atPath: leftover.path))
  }

  @Test("A missing file cannot be set aside")
  func nothingToSetAside() {
    #expect(throws: SealedStorageError.disk(ENOENT)) { try file().setAside() }
  }

  @Test("The same content is encrypted differently each time, and is not readable on the disk")
  func nothingReadable() throws {
    let content = Data("a person, a place and a time".utf8)
    try file().replace(with: content)
    let first = try Data(contentsOf: folder.path("store"))
    try file().replace(with: content)
    let second = try Data(contentsOf: folder.path("store"))
    #expect(first != second)
    for bytes in [first, second] { #expect(bytes.range(of: Data("person".utf8)) == nil) }
  }

  @Test("Only the owner can read the file and enter the folders created for it")
  func permissions() throws {
    let deep = SealedFile(
      url: folder.path("a/b/store"), key: key, purpose: "test", randomness: SystemRandomness())
    try deep.replace(with: Data("x".utf8))
    #expect(try permissions(of: "a/b/store") == 0o600)
    #expect(try permissions(of: "a") == 0o700)
    #expect(try permissions(of: "a/b") == 0o700)
  }

  private func permissions(of name: String) throws -> Int {
    let facts = try FileManager.default.attributesOfItem(atPath: folder.path(name).path)
    return try #require(facts[.posixPermissions] as? NSNumber).intValue
  }

  @Test(
    "Content up to the limit is stored; more is rejected and changes nothing")
  func limit() throws {
    let limit = SealedFile.contentBytesMax
    for count in [limit - 1, limit] {
      try file().replace(with: Data(count: count))
      #expect(try file().read()?.count == count)
    }
    #expect(throws: SealedStorageError.tooLarge) {
      try file().replace(with: Data(count: limit + 1))
    }
    #expect(try file().read()?.count == limit)
  }

  @Test("A file that is larger than any write makes it is damaged, not a full disk")
  func oversized() throws {
    try file().replace(with: Data("content".utf8))
    let handle = try FileHandle(forWritingTo: folder.path("store"))
    try handle.truncate(atOffset: UInt64(SealedFile.contentBytesMax) + 29)
    #expect(throws: SealedStorageError.damaged) { try file().read() }
  }

  @Test("A folder with the name of the file is an error with the system's code")
  func diskRefuses() throws {
    let way = folder.path("store")
    try FileManager.default.createDirectory(at: way, withIntermediateDirectories: true)
    #expect(throws: SealedStorageError.disk(EISDIR)) { try file().read() }
    #expect(throws: SealedStorageError.disk(EISDIR)) { try file().replace(with: Data("x".utf8)) }
    #expect(folder.files().isEmpty)
  }

  @Test(
    "A full disk keeps the old content, and the next write succeeds when there is space",
    .needs(.smallDisk))
  func fullDisk() throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let file = SealedFile(
      url: disk.url.appendingPathComponent("store"), key: key, purpose: "test",
      randomness: SystemRandomness())
    try file.replace(with: Data("old".utf8))
    let ballast = disk.fill()
    #expect(throws: SealedStorageError.full) { try file.replace(with: Data(count: 20_000)) }
    #expect(try file.read() == Data("old".utf8))
    let names = try FileManager.default.contentsOfDirectory(atPath: disk.url.path)
    #expect(Set(names) == ["store", "ballast"])
    try FileManager.default.removeItem(at: ballast)
    try file.replace(with: Data(count: 20_000))
    #expect(try file.read() == Data(count: 20_000))
  }
}
