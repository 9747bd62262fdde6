import Foundation
import SealedStorage
import World

/// A value in one encrypted file, with a marker file that tells a first launch from a lost store.
struct AppStore<State: Codable & Sendable> {
  /// The current value, equal to the one on disk.
  private(set) var state: State
  private(set) var condition: StorageCondition

  private let initial: State
  private let folder: URL
  private let randomness: any Randomness
  private var key: SealingKey?

  /// Opens the store in `folder`; `key` is `nil` if the key is lost.
  init(initial: State, folder: URL, key: SealingKey?, randomness: any Randomness) {
    self.initial = initial
    state = initial
    self.folder = folder
    self.key = key
    self.randomness = randomness
    condition = .keyMissing
    open()
  }

  mutating func open() {
    guard let file, let marker else {
      condition = .keyMissing
      return
    }
    do throws(SealedStorageError) {
      if let content = try file.read() {
        let stored = try? JSONDecoder().decode(State.self, from: content)
        state = stored ?? state
        condition = stored == nil ? .damaged : .ready
      } else {
        condition = try marker.read() == nil ? .ready : .lost
      }
    } catch {
      condition = error == .damaged ? .damaged : .unreadable
    }
  }

  /// Changes the value, on disk first. If it throws, neither the file nor `state` has changed.
  mutating func update(_ change: (inout State) -> Void) throws(StorageFailure) {
    guard condition == .ready, let file, let marker else { throw .notReady(condition) }
    var next = state
    change(&next)
    guard let content = try? JSONEncoder().encode(next) else { throw .disk }
    do throws(SealedStorageError) {
      try file.replace(with: content)
      if try marker.read() == nil { try marker.replace(with: Data([1])) }
    } catch {
      throw StorageFailure(error)
    }
    state = next
  }

  /// Opens the store with `key` if that key fits; otherwise renames the files and starts empty.
  mutating func startOver(with key: SealingKey) throws(StorageFailure) {
    guard condition != .ready else { return }
    self.key = key
    open()
    guard condition != .ready else { return }
    try setAside()
    state = initial
    condition = .ready
    try update { _ in }
  }

  /// Removes all files of the store, including renamed ones.
  mutating func removeEverything() throws(StorageFailure) {
    do {
      if FileManager.default.fileExists(atPath: folder.path) {
        try FileManager.default.removeItem(at: folder)
      }
    } catch {
      throw .disk
    }
    state = initial
    condition = key == nil ? .keyMissing : .ready
  }

  private func setAside() throws(StorageFailure) {
    for name in [Self.stateName, Self.markerName] {
      let isThere = FileManager.default.fileExists(
        atPath: folder.appendingPathComponent(name).path)
      guard isThere, let file = sealed(name) else { continue }
      do throws(SealedStorageError) {
        try file.setAside()
      } catch {
        throw StorageFailure(error)
      }
    }
  }

  private static var stateName: String { "state.sealed" }
  private static var markerName: String { "begun.sealed" }

  private var file: SealedFile? { sealed(Self.stateName) }
  private var marker: SealedFile? { sealed(Self.markerName) }

  private func sealed(_ name: String) -> SealedFile? {
    key.map {
      SealedFile(
        url: folder.appendingPathComponent(name), key: $0, purpose: "app \(name)",
        randomness: randomness)
    }
  }
}
