// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@Suite("File access")
struct FileAccessTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("An unneeded file or folder is removed; a missing one is not an error")
  func removal() throws {
    let (file, inner) = (folder.path("file"), folder.path("folder"))
    try Data().write(to: file)
    try FileManager.default.createDirectory(
      at: inner.appendingPathComponent("deep"), withIntermediateDirectories: true)
    for url in [file, inner, folder.path("missing")] { FileManager.default.removeUnneeded(url) }
    #expect(FileManager.default.names(in: folder.url).isEmpty)
  }

  @Test("The missing folders of a path end at one that exists, also after `..`")
  func missing() {
    func names(_ path: String) -> [String] {
      FileManager.default.missingFolders(of: folder.path(path)).map(\.lastPathComponent)
    }
    #expect(names("a/b") == ["b", "a"])
    #expect(names("") == [])
    #expect(names("a/../b") == ["b"])
    #expect(names("a/..") == [])
  }

  @Test("A folder has its names; a missing folder and a file have none")
  func names() throws {
    for name in ["a", "b"] { try Data().write(to: folder.path(name)) }
    #expect(FileManager.default.names(in: folder.url).sorted() == ["a", "b"])
    #expect(FileManager.default.names(in: folder.path("missing")).isEmpty)
    #expect(FileManager.default.names(in: folder.path("a")).isEmpty)
  }

  @Test("A file and a dangling link have attributes, a missing file has none")
  func attributes() throws {
    try Data([1, 2, 3]).write(to: folder.path("file"))
    try FileManager.default.createSymbolicLink(
      at: folder.path("link"), withDestinationURL: folder.path("missing"))
    let file = FileManager.default.attributes(of: folder.path("file"))
    #expect((file?[.size] as? NSNumber)?.intValue == 3)
    let link = FileManager.default.attributes(of: folder.path("link"))
    #expect(link?[.type] as? FileAttributeType == .typeSymbolicLink)
    #expect(FileManager.default.attributes(of: folder.path("missing")) == nil)
  }

  @Test("A file is read up to a number of bytes, and to its end; a folder cannot be read")
  func bytes() throws {
    try Data([1, 2, 3]).write(to: folder.path("file"))
    let file = try #require(FileHandle(forReadingAtPath: folder.path("file").path))
    #expect(file.bytes(upTo: 2) == Data([1, 2]))
    #expect(file.bytes(upTo: 2) == Data([3]))
    #expect(file.bytes(upTo: 2) == Data())
    let descriptor = open(folder.url.path, O_RDONLY | O_DIRECTORY)
    try #require(descriptor >= 0)
    #expect(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).bytes(upTo: 1) == nil)
  }
}
