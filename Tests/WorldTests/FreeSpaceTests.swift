// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@Suite("Free space")
struct FreeSpaceTests {
  @Test("A folder has free space; a missing folder and a file at its place have none")
  func folders() throws {
    let folder = try TemporaryFolder()
    #expect(try #require(FreeSpace.bytes(in: folder.url)) > 0)
    #expect(FreeSpace.bytes(in: folder.path("none")) == nil)
    try Data().write(to: folder.path("file"))
    #expect(FreeSpace.bytes(in: folder.path("file")) == nil)
  }

  @Test("A file system that reports more bytes than a number has does not end the process")
  func large() {
    #expect(FreeSpace.bytes(blocks: 1_000, of: 4_096) == 4_096_000)
    #expect(FreeSpace.bytes(blocks: 1 << 43, of: 1 << 20) == .max)
    #expect(FreeSpace.bytes(blocks: 1 << 50, of: 1 << 20) == .max)
    #expect(FreeSpace.bytes(blocks: 0, of: .max) == 0)
  }
}
