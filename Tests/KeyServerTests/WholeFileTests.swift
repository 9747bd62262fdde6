import Foundation
import TestSupport
import Testing

@testable import KeyServer

@Suite("Exports: a file is there whole or not at all")
struct WholeFileTests {
  private struct Stopped: Error {}

  @Test("A write that stops halfway leaves the file of before, and nothing beside it")
  func stopped() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("index.txt")
    try WholeFile.replace(Data("old".utf8), at: file)
    #expect(throws: Stopped.self) {
      try WholeFile.fill(file) { unfinished in
        try Data("ne".utf8).write(to: unfinished)
        // Whoever reads now reads what was there.
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        throw Stopped()
      }
    }
    #expect(try Data(contentsOf: file) == Data("old".utf8))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names == ["index.txt"])
    try WholeFile.replace(Data("new".utf8), at: file)
    #expect(try Data(contentsOf: file) == Data("new".utf8))
  }
}
