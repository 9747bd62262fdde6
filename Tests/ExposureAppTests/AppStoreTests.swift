// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Store of the app") struct AppStoreTests {
  private struct Counters: Codable, Sendable, Equatable {
    var kept = 0
    var stored = 0
  }

  private let folder: TemporaryFolder
  private let randomness = TestRandomness()
  private let key: SealingKey

  init() throws {
    folder = try TemporaryFolder()
    key = SealingKey(from: randomness)
  }

  private func open() -> AppStore<Counters> {
    AppStore(
      initial: Counters(), restored: Counters(), folder: folder.path("Store"), key: key,
      randomness: randomness)
  }

  private var file: URL { folder.path("Store/state.sealed") }

  @Test("A kept change is in memory, and not on the disk after a restart")
  func kept() throws {
    var store = open()
    try store.update { $0.stored = 1 }
    let before = try Data(contentsOf: file)
    try store.keep { $0.kept = 1 }
    #expect(store.state == Counters(kept: 1, stored: 1))
    #expect(try Data(contentsOf: file) == before)
    #expect(open().state == Counters(kept: 0, stored: 1))
  }

  @Test("The next update stores a kept change, also after one that failed")
  func storedLater() throws {
    var store = open()
    try store.update { $0.stored = 1 }
    try store.keep { $0.kept = 1 }
    // A folder in place of the file: it cannot be replaced.
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    #expect(throws: StorageFailure.self) { try store.update { $0.stored = 2 } }
    #expect(store.state == Counters(kept: 1, stored: 1))
    try FileManager.default.removeItem(at: file)
    try store.update { $0.stored = 3 }
    #expect(open().state == Counters(kept: 1, stored: 3))
  }

  @Test("A store without a key keeps nothing")
  func withoutKey() {
    var store = AppStore(
      initial: Counters(), restored: Counters(), folder: folder.path("Store"), key: nil,
      randomness: randomness)
    #expect(throws: StorageFailure.notReady(.keyMissing)) { try store.keep { $0.kept = 1 } }
    #expect(store.state == Counters())
  }

  @Test("An update after the folder was removed by others stores the whole value")
  func removedFolder() throws {
    var store = open()
    try store.update { $0.stored = 1 }
    try FileManager.default.removeItem(at: folder.path("Store"))
    try store.update { $0.kept = 2 }
    #expect(open().state == Counters(kept: 2, stored: 1))
  }
}
