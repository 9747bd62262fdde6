// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import KeyServer

@Suite("Cached index")
struct CachedIndexTests {
  @Test("An index is in memory after it was read, until its file is replaced")
  func inMemory() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("index.txt")
    try Data("first\n".utf8).write(to: file)
    let index = CachedIndex(file)
    #expect(index.contentInMemory == nil)
    let tag = try index.content().tag
    #expect(index.contentInMemory?.tag == tag)
    try Data("other\n".utf8).write(to: file, options: .atomic)
    #expect(index.contentInMemory == nil)
    #expect(try index.content().tag != tag && index.contentInMemory != nil)
  }
}
