// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import World

@testable import PhoneProcess

@Suite("The folder of a running phone", .timeLimit(.minutes(Patience.minutes)))
struct PhoneFolderReplacedTests {
  private let scene: PhoneScene

  init() throws {
    scene = try PhoneScene()
  }

  private var aside: URL { scene.folder.url.appendingPathExtension("moved") }

  /// Runs the phone with the lock of its folder while `body` runs, and returns the error that ended it.
  private func failure(_ body: (Phone) async throws -> Void) async throws -> (any Error)? {
    let phone = try scene.phone()
    let lock = try #require(try scene.folder.lock())
    let failure = Mutex<(any Error)?>(nil)
    let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      do { try await phone.run(holding: lock) { isReady.finish() } } catch {
        failure.withLock { $0 = error }
      }
    }
    for await _ in ready {}
    try await body(phone)
    // The watch, the device and the schedule sleep until the clock advances.
    for _ in 0..<20 where failure.withLock({ $0 == nil }) {
      try await Patience.until { scene.clock.sleeperCount > 0 || failure.withLock { $0 != nil } }
      scene.clock.advance(by: PhoneLimit.socketWatchSeconds)
      await Task.yield()
    }
    try await Patience.until { failure.withLock { $0 != nil } }
    running.cancel()
    await running.value
    return failure.withLock { $0 }
  }

  @Test(
    "A phone whose folder was moved or replaced stops and writes nothing at its path",
    arguments: [true, false])
  func replaced(isReplaced: Bool) async throws {
    let failure = try await failure { phone in
      _ = await phone.perform(PhoneRequest(.enable))
      try FileManager.default.moveItem(at: scene.folder.url, to: aside)
      if isReplaced {
        try FileManager.default.createDirectory(
          at: scene.folder.url, withIntermediateDirectories: false)
      }
      let reply = await phone.perform(PhoneRequest(.status))
      #expect(reply.status == .failed && reply.text.contains("replaced"), "\(reply.text)")
    }
    #expect(failure as? PhoneFolderReplaced == PhoneFolderReplaced(path: scene.folder.url.path))
    #expect(FileManager.default.names(in: scene.folder.url).isEmpty)
  }

  @Test("A phone cannot run on the moved folder of another one, and two cannot share a folder")
  func moved() async throws {
    let lock = try #require(try scene.folder.lock())
    #expect(lock.isOn(scene.folder.url))
    try FileManager.default.moveItem(at: scene.folder.url, to: aside)
    #expect(!lock.isOn(scene.folder.url) && lock.isOn(aside))
    #expect(try PhoneFolder(existing: aside.path).lock() == nil)
    try FileManager.default.createSymbolicLink(at: scene.folder.url, withDestinationURL: aside)
    #expect(lock.isOn(scene.folder.url))
    #expect(try scene.folder.lock() == nil)
  }
}
