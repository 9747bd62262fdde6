import Foundation
import Synchronization
import TestSupport
import Testing

@testable import KeyServer

@Suite("Exports: the folder is changed by one at a time")
struct FolderLockTests {
  /// Who was there, in turn.
  private final class Guests: Sendable {
    private let names = Mutex<[String]>([])

    var all: [String] { names.withLock { $0 } }
    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  @Test("5.14 Who comes second waits until the first has ended, also where that one fails")
  func inTurn() async throws {
    let folder = try TemporaryFolder()
    let (isHeld, mayEnd) = (Gate(), Gate())
    let told = Guests()
    let first = Task {
      try await FolderLock.holding(folder.url) {
        isHeld.open()
        try await mayEnd.wait()
        told.add("first")
        throw CocoaError(.fileWriteOutOfSpace)
      }
    }
    try await isHeld.wait()
    let second = Task {
      try await FolderLock.holding(folder.url) { told.add("second") }
    }
    try await Task.sleep(for: .milliseconds(200))
    #expect(told.all == [])
    mayEnd.open()
    await #expect(throws: CocoaError.self) { try await first.value }
    try await second.value
    #expect(told.all == ["first", "second"])
  }

  @Test("Who is cancelled while waiting does nothing; a folder that is not there is an error")
  func cancelled() async throws {
    let folder = try TemporaryFolder()
    let (isHeld, mayEnd) = (Gate(), Gate())
    async let first: Void = FolderLock.holding(folder.url) {
      isHeld.open()
      try await mayEnd.wait()
    }
    try await isHeld.wait()
    let second = Task { try await FolderLock.holding(folder.url) { Issue.record("held twice") } }
    try await Task.sleep(for: .milliseconds(50))
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    mayEnd.open()
    try await first
    await #expect(throws: POSIXError.self) {
      try await FolderLock.holding(folder.path("missing")) { Issue.record("no folder") }
    }
  }

  @Test("An export waits for whoever holds its folder, and then writes")
  func exporterWaits() async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys()
      let (isHeld, mayEnd) = (Gate(), Gate())
      let other = Task {
        try await FolderLock.holding(server.configuration.exportFolder) {
          isHeld.open()
          try await mayEnd.wait()
        }
      }
      try await isHeld.wait()
      server.clock.advance(by: 14_400)
      let export = Task { try await server.server.exportDue() }
      try await Task.sleep(for: .seconds(1))
      #expect(try await server.lines().isEmpty)
      mayEnd.open()
      try await other.value
      _ = try await export.value
      #expect(try await server.lines().count == 1)
    }
  }

  @Test("Two servers on one folder that export at once make each file and each line once")
  func twoExporters() async throws {
    let (authority, clock) = (Authority(), TestClock(RunningKeyServer.start))
    let folder = try TemporaryFolder()
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { one in
      try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { two in
        var sent: Set<String> = []
        for _ in 0..<4 {
          sent.formUnion(try await one.uploadKeys())
          clock.advance(by: 14_400)
          async let left = one.server.exportDue()
          async let right = two.server.exportDue()
          _ = try await (left, right)
        }
        let lines = try await two.lines()
        #expect(lines.count == 4 && Set(lines).count == 4)
        let published = try await one.allPublished()
        let texts = published.reduce(into: Set<String>()) { $0.formUnion($1.texts) }
        #expect(texts.isSuperset(of: sent))
        let keys = published.flatMap { file in file.keys.map { key in key.text } }
        #expect(keys.count == Set(keys).count)
      }
    }
  }
}
