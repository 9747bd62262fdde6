// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@Suite("Atomic file")
struct AtomicFileTests {
  private struct FillFailure: Error, Equatable {}

  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.path("store")
  }

  private func content(of url: URL? = nil) throws -> String {
    String(decoding: try Data(contentsOf: url ?? self.url), as: UTF8.self)
  }

  private func names() -> [String] { folder.files().map(\.lastPathComponent).sorted() }

  private func permissions() throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test("A write creates the file, and a second one replaces it", arguments: [0, 1, 70_000])
  func replace(byteCount: Int) throws {
    let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) }
    try AtomicFile.write(Array("old".utf8), to: url)
    #expect(try content() == "old")
    try AtomicFile.write(bytes, to: url)
    #expect([UInt8](try Data(contentsOf: url)) == bytes)
    #expect(names() == ["store"])
  }

  @Test("A write through the descriptor returns the closure's result and closes the descriptor")
  func fill() throws {
    var used: Int32 = -1
    let count = try AtomicFile.write(to: url) { descriptor in
      used = descriptor
      #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
      return Foundation.write(descriptor, "new", 3)
    }
    #expect(count == 3)
    #expect(try content() == "new")
    #expect(used >= 0)
  }

  @Test("A failure of the closure keeps the old content and removes the temporary file")
  func failure() throws {
    try AtomicFile.write(Array("old".utf8), to: url)
    #expect(throws: FillFailure()) {
      try AtomicFile.write(to: url) { descriptor in
        _ = Foundation.write(descriptor, "new", 3)
        throw FillFailure()
      }
    }
    #expect(try content() == "old")
    #expect(names() == ["store"])
  }

  @Test("With .keep a missing file is created and an existing one is refused with EEXIST")
  func keep() throws {
    try AtomicFile.write(Array("first".utf8), to: url, existing: .keep)
    let error = #expect(throws: FileError.self) {
      try AtomicFile.write(Array("second".utf8), to: url, existing: .keep)
    }
    #expect(error?.code == EEXIST)
    #expect(error?.operation == .rename)
    #expect(try content() == "first")
    #expect(names() == ["store"])
  }

  @Test("The file has the given permissions, also if it replaces one with others")
  func modes() throws {
    try AtomicFile.write([], to: url)
    #expect(try permissions() == 0o600)
    try AtomicFile.write([], to: url, permissions: 0o644)
    #expect(try permissions() == 0o644)
    try AtomicFile.write(to: url, permissions: 0o640) { _ in }
    #expect(try permissions() == 0o640)
  }

  @Test("A write whose temporary file is not created fails with ECANCELED and changes nothing")
  func notCreated() throws {
    try AtomicFile.write([1], to: url)
    let error = #expect(throws: FileError.self) {
      try AtomicFile.write(to: url, create: { _ in }) { _ in Issue.record("content was written") }
    }
    #expect(error?.code == ECANCELED)
    #expect(names() == ["store"])
    #expect(try Data(contentsOf: url) == Data([1]))
  }

  @Test("The temporary file is beside the final one, private, and recognized by its name")
  func temporaryName() throws {
    var temporary: URL?
    try AtomicFile.write(to: url, permissions: 0o644, create: { temporary = $0() }) { _ in
      let file = try #require(temporary)
      #expect(names() == [file.lastPathComponent])
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
    let file = try #require(temporary)
    #expect(file.deletingLastPathComponent().path == folder.url.path)
    #expect(AtomicFile.isTemporary(file.lastPathComponent))
    #expect(AtomicFile.isTemporary(file.lastPathComponent, for: url))
    #expect(!AtomicFile.isTemporary(file.lastPathComponent, for: folder.path("other")))
    for name in ["store", ".store", "store.new", "store.unfinished-abcdef"] {
      #expect(!AtomicFile.isTemporary(name))
      #expect(!AtomicFile.isTemporary(name, for: url))
    }
    #expect(names() == ["store"])
  }

  @Test("A missing folder is a FileError with ENOENT and the final path")
  func missingFolder() {
    let url = folder.path("missing/store")
    let error = #expect(throws: FileError.self) { try AtomicFile.write([1], to: url) }
    #expect(error?.code == ENOENT)
    #expect(error?.operation == .create)
    #expect(error?.path == url.path)
    #expect(error?.isDiskFull == false)
    #expect(error?.description.contains(url.path) == true)
  }

  @Test("A folder with the final name is refused, and nothing is left behind")
  func folderInTheWay() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    let error = #expect(throws: FileError.self) { try AtomicFile.write([1], to: url) }
    #expect(error?.code == EISDIR)
    #expect(names().isEmpty)
  }

  @Test("A pipe, and links to pipes and to open files of processes, are refused and stay")
  func pipes() throws {
    let pipe = folder.path("pipe")
    #expect(mkfifo(pipe.path, 0o600) == 0)
    let output = folder.path("output")
    let open = folder.path("open")
    for (link, target) in [(output, pipe.path), (open, "/proc/self/fd/1")] {
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: target)
    }
    for url in [pipe, output, open] {
      let error = #expect(throws: FileError.self) { try AtomicFile.write([1], to: url) }
      #expect(error?.code == EINVAL && !AtomicFile.isReplaceable(url))
      #expect(error?.operation == .rename)
      #expect(error?.description.hasSuffix("which is not replaced: name a file") == true)
    }
    var facts = stat()
    #expect(lstat(pipe.path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFIFO)
    #expect(lstat(open.path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 3)
  }

  @Test("A link to a file, or to nothing, is replaced", arguments: ["other", "nothing"])
  func links(target: String) throws {
    try Data("old".utf8).write(to: folder.path("other"))
    try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
    try AtomicFile.write(Array("new".utf8), to: url)
    #expect(try content() == "new")
    #expect(try content(of: folder.path("other")) == "old")
  }

  @Test("System errors become the caller's error type")
  func mapped() throws {
    #expect(throws: FillFailure()) {
      try AtomicFile.write(
        to: folder.path("missing/store"), mapError: { _ in FillFailure() }
      ) { _ throws(FillFailure) in }
    }
  }

  @Test("A complete file gets its final name, and with .keep an existing file is refused")
  func publish() throws {
    let unfinished = folder.path("unfinished")
    try Data("one".utf8).write(to: unfinished)
    try AtomicFile.publish(unfinished, as: url, existing: .keep)
    #expect(names() == ["store"])
    try Data("two".utf8).write(to: unfinished)
    let error = #expect(throws: FileError.self) {
      try AtomicFile.publish(unfinished, as: url, existing: .keep)
    }
    #expect(error?.code == EEXIST)
    #expect(try content() == "one")
    try AtomicFile.publish(unfinished, as: url)
    #expect(try content() == "two")
    #expect(names() == ["store"])
  }

  @Test("Folders are created with their parents for the owner only, and existing ones stay")
  func folders() throws {
    let deep = folder.path("a/b/c")
    for _ in 1...2 { try AtomicFile.makeFolder(deep) }
    for name in ["a", "a/b", "a/b/c"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name).path)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
      #expect(attributes[.type] as? FileAttributeType == .typeDirectory)
    }
    try AtomicFile.write([], to: url)
    let error = #expect(throws: FileError.self) {
      try AtomicFile.makeFolder(url.appendingPathComponent("below"))
    }
    #expect(error?.code == ENOTDIR && error?.operation == .create)
    // A file in the place of the folder itself, also behind a link.
    let link = folder.path("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
    for place in [url, link] {
      let error = #expect(throws: FileError.self) { try AtomicFile.makeFolder(place) }
      #expect(error?.code == ENOTDIR && error?.path == place.path)
    }
  }

  @Test("A folder whose parents cannot be named is an error", arguments: ["none/..", "none/../.."])
  func unnamedParents(path: String) throws {
    let error = #expect(throws: FileError.self) { try AtomicFile.makeFolder(folder.path(path)) }
    #expect(error?.code == ENOENT && error?.operation == .create)
  }

  @Test("A link to a folder is an existing folder")
  func linkedFolder() throws {
    let (target, link) = (folder.path("target"), folder.path("link"))
    try AtomicFile.makeFolder(target)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    try AtomicFile.makeFolder(link)
  }

  @Test("A missing file cannot be synced or published")
  func missingFile() {
    let missing = folder.path("missing")
    for attempt in [
      { try AtomicFile.sync(missing) }, { try AtomicFile.publish(missing, as: url) },
    ] {
      #expect((#expect(throws: FileError.self) { try attempt() })?.code == ENOENT)
    }
  }

  @Test(
    "A full disk keeps the old content, removes the temporary file and is reported as full",
    .needs(.smallDisk))
  func fullDisk() throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let url = disk.url.appendingPathComponent("store")
    try AtomicFile.write(Array("old".utf8), to: url)
    let ballast = disk.fill()
    let bytes = [UInt8](repeating: 1, count: 20_000)
    let error = #expect(throws: FileError.self) { try AtomicFile.write(bytes, to: url) }
    #expect(error?.isDiskFull == true)
    #expect(try content(of: url) == "old")
    let names = try FileManager.default.contentsOfDirectory(atPath: disk.url.path)
    #expect(Set(names) == ["store", "ballast"])
    try FileManager.default.removeItem(at: ballast)
    try AtomicFile.write(bytes, to: url)
    #expect(try Data(contentsOf: url).count == bytes.count)
  }
}
