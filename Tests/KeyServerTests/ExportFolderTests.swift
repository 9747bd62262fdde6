// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("Exports: folder lock and atomic files")
struct ExportFolderTests {
  /// The names of the lock holders in order.
  private final class Holders: Sendable {
    private let names = Mutex<[String]>([])

    var all: [String] { names.withLock { $0 } }
    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  /// Waits until a second holder has opened the folder and waits for the lock.
  private func waitForSecondHolder(of folder: URL) async throws {
    try await Patience.until { OpenDescriptors.count(on: folder) == 2 }
    #expect(OpenDescriptors.count(on: folder) == 2)
  }

  @Test("The second holder waits until the first releases the lock, even if that one throws")
  func inTurn() async throws {
    let folder = try TemporaryFolder()
    let (isHeld, mayEnd) = (Gate(), Gate())
    let holders = Holders()
    let first = Task {
      try await FolderLock.withLock(on: folder.url) {
        isHeld.open()
        try await mayEnd.wait()
        holders.add("first")
        throw CocoaError(.fileWriteOutOfSpace)
      }
    }
    try await isHeld.wait()
    let second = Task {
      try await FolderLock.withLock(on: folder.url) { holders.add("second") }
    }
    try await waitForSecondHolder(of: folder.url)
    #expect(holders.all == [])
    mayEnd.open()
    await #expect(throws: CocoaError.self) { try await first.value }
    try await second.value
    #expect(holders.all == ["first", "second"])
  }

  @Test("A cancelled waiter throws and does not run; a missing folder is an error")
  func cancelled() async throws {
    let folder = try TemporaryFolder()
    let (isHeld, mayEnd) = (Gate(), Gate())
    async let first: Void = FolderLock.withLock(on: folder.url) {
      isHeld.open()
      try await mayEnd.wait()
    }
    try await isHeld.wait()
    let second = Task {
      try await FolderLock.withLock(on: folder.url) { Issue.record("the lock was held twice") }
    }
    try await waitForSecondHolder(of: folder.url)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    mayEnd.open()
    try await first
    await #expect(throws: FileError.self) {
      try await FolderLock.withLock(on: folder.path("missing")) { Issue.record("no such folder") }
    }
  }

  @Test("An export waits for the lock on its folder, then writes")
  func exporterWaits() async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys()
      let (isHeld, mayEnd) = (Gate(), Gate())
      let other = Task {
        try await FolderLock.withLock(on: server.configuration.exportFolder) {
          isHeld.open()
          try await mayEnd.wait()
        }
      }
      try await isHeld.wait()
      server.clock.advance(by: 14_400)
      let export = Task { try await server.server.exportDue() }
      try await waitForSecondHolder(of: server.configuration.exportFolder)
      #expect(try await server.lines().isEmpty)
      mayEnd.open()
      try await other.value
      _ = try await export.value
      #expect(try await server.lines().count == 1)
    }
  }

  @Test("Two servers that export to one folder at the same time write each file and each line once")
  func twoExporters() async throws {
    let (authority, clock) = (Authority(), ManualClock(RunningKeyServer.start))
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

  private struct Interrupted: Error {}

  @Test("An interrupted write leaves the old file and no temporary file")
  func interruptedWrite() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("index.txt")
    try AtomicFile.write(Data("old".utf8), to: file)
    #expect(throws: Interrupted.self) {
      try AtomicFile.write(to: file) { descriptor in
        try FileHandle(fileDescriptor: descriptor).write(contentsOf: Data("ne".utf8))
        // A concurrent reader still reads the old content.
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        throw Interrupted()
      }
    }
    #expect(try Data(contentsOf: file) == Data("old".utf8))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names == ["index.txt"])
    try AtomicFile.write(Data("new".utf8), to: file)
    #expect(try Data(contentsOf: file) == Data("new".utf8))
  }

  @Test("An index and a key file are readable by other users' web servers")
  func permissions() async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      let names = ["index.txt"] + (try await server.lines())
      for name in names {
        let file = server.configuration.exportFolder.appendingPathComponent(name)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? NSNumber == 0o644, "\(name)")
      }
    }
  }

  @Test(
    "After a failure to write the index, the lock is free and the next export continues",
    .timeLimit(.minutes(Patience.minutes)))
  func indexFails() async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys()
      // A folder at the path of the index: the key file can be written, the index cannot.
      let index = server.configuration.exportFolder.appendingPathComponent("index.txt")
      try await server.replaceByFolder(index)
      await #expect(throws: KeyServerError.unavailable) { try await server.exportPeriod() }
      let isFree = try await FolderLock.withLock(on: server.configuration.exportFolder) { true }
      #expect(isFree)
      try FileManager.default.removeItem(at: index)
      try await server.server.exportDue()
      #expect(try await server.lines().count == 1)
    }
  }
}
