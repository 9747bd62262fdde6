// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@Suite("Reading a file in parts")
struct FileChunksTests {
  @Test(
    "The parts are the content in order, each within the limit",
    arguments: [0, 1, FileChunks.bytesMax, FileChunks.bytesMax + 1])
  func parts(count: Int) throws {
    let folder = try TemporaryFolder()
    let file = folder.path("file")
    let content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) })
    try content.write(to: file)
    var parts: [Data] = []
    #expect(FileChunks.read(file) { parts.append($0) })
    #expect(parts.reduce(Data(), +) == content)
    #expect(parts.allSatisfy { (1...FileChunks.bytesMax).contains($0.count) })
  }

  @Test("A missing file and a folder cannot be read")
  func unreadable() throws {
    let folder = try TemporaryFolder()
    #expect(!FileChunks.read(folder.path("none")) { _ in })
    #expect(!FileChunks.read(folder.url) { _ in })
  }

  @Test("An error of the caller ends the reading")
  func thrown() throws {
    let folder = try TemporaryFolder()
    try Data([1]).write(to: folder.path("file"))
    #expect(throws: CocoaError.self) {
      try FileChunks.read(folder.path("file")) { _ in throw CocoaError(.featureUnsupported) }
    }
  }
}
