import Foundation
import SealedStorage
import World

/// The app's memory on the disk: one sealed file, and beside it a sealed word that there is one.
struct AppStore {
  /// What is remembered, as it is on the disk.
  private(set) var state = StoredState()
  /// Whether the memory can be used.
  private(set) var condition: StorageCondition

  private let folder: URL
  private let randomness: any Randomness
  private var key: SealingKey?

  /// Opens the store in `folder`; a nil key is a key that is gone.
  init(folder: URL, key: SealingKey?, randomness: any Randomness) {
    self.folder = folder
    self.key = key
    self.randomness = randomness
    condition = .keyMissing
    open()
  }

  /// Reads what is there.
  mutating func open() {
    guard let file, let begun else {
      condition = .keyMissing
      return
    }
    do throws(SealedStorageError) {
      if let content = try file.read() {
        let stored = try? JSONDecoder().decode(StoredState.self, from: content)
        state = stored ?? state
        condition = stored == nil ? .damaged : .ready
      } else {
        condition = try begun.read() == nil ? .ready : .lost
      }
    } catch {
      condition = error == .damaged ? .damaged : .unreadable
    }
  }

  /// Changes the memory: on the disk first, then here; where it throws, both are as before.
  mutating func update(_ change: (inout StoredState) -> Void) throws(StorageFailure) {
    guard condition == .ready, let file, let begun else { throw .notReady(condition) }
    var next = state
    change(&next)
    guard let content = try? JSONEncoder().encode(next) else { throw .disk }
    do throws(SealedStorageError) {
      try file.replace(with: content)
      if try begun.read() == nil { try begun.replace(with: Data([1])) }
    } catch {
      throw StorageFailure(error)
    }
    state = next
  }

  /// Opens the memory with `key` where that is the right one after all; else begins an empty one.
  /// What does not open is set aside, not thrown away.
  mutating func startOver(with key: SealingKey) throws(StorageFailure) {
    guard condition != .ready else { return }
    self.key = key
    open()
    guard condition != .ready else { return }
    try setAside()
    state = StoredState()
    condition = .ready
    try update { _ in }
  }

  /// Removes everything the app remembers from the disk, also what was set aside.
  mutating func removeEverything() throws(StorageFailure) {
    do {
      if FileManager.default.fileExists(atPath: folder.path) {
        try FileManager.default.removeItem(at: folder)
      }
    } catch {
      throw .disk
    }
    state = StoredState()
    condition = key == nil ? .keyMissing : .ready
  }

  private func setAside() throws(StorageFailure) {
    for name in [Self.stateName, Self.begunName] {
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

  private static let stateName = "state.sealed"
  private static let begunName = "begun.sealed"

  private var file: SealedFile? { sealed(Self.stateName) }
  private var begun: SealedFile? { sealed(Self.begunName) }

  private func sealed(_ name: String) -> SealedFile? {
    key.map {
      SealedFile(
        url: folder.appendingPathComponent(name), key: $0, purpose: "app \(name)",
        randomness: randomness)
    }
  }
}
