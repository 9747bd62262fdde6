// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import TextEncodings
import World

/// A value in one encrypted file, with a marker file that tells a first launch from a lost store.
///
/// A damaged or lost file is set aside and rebuilt without a manual step if the other file proves that
/// the key is right. Otherwise the key may be the wrong one, and the user decides.
struct AppStore<State: Codable & Sendable> {
  /// A file of the store.
  enum File: String, CaseIterable {
    case state = "state.sealed"
    case marker = "begun.sealed"
  }

  /// The current value, equal to the one on disk but for the changes of `keep`.
  private(set) var state: State
  private(set) var condition: StorageCondition
  /// The files that were set aside and rebuilt since `takeRebuilt()`.
  private var rebuilt: Set<File> = []

  private let initial: State
  private let restored: State
  private let folder: URL
  private let randomness: any Randomness
  /// The files, whose own keys take long to derive; none if the key is lost.
  private var files: [File: SealedFile] = [:]
  private var hasMarker = false

  /// Opens the store in `folder`; `key` is `nil` if the key is lost.
  ///
  /// - Parameters:
  ///   - initial: The value of a first launch.
  ///   - restored: The value after a loss.
  init(
    initial: State, restored: State, folder: URL, key: SealingKey?, randomness: any Randomness
  ) {
    self.initial = initial
    self.restored = restored
    state = initial
    self.folder = folder
    self.randomness = randomness
    condition = .keyMissing
    if let key { files = sealedFiles(of: key) }
    open()
  }

  mutating func open() {
    guard !files.isEmpty else {
      condition = .keyMissing
      return
    }
    let marker = content(of: .marker) { $0 }
    let stored = content(of: .state) { JSONDecoder().decodeIfValid(State.self, from: $0) }
    hasMarker = marker.value != nil
    switch (stored, marker) {
    case (.found(let state), _):
      self.state = state
      condition = .ready
      if marker.isDamaged { rebuild(.marker) }
    case (.unreadable, _), (_, .unreadable): condition = .unreadable
    case (.absent, .absent): condition = .ready
    case (.absent, .found), (.damaged(isKeyRight: false), .found), (.damaged(isKeyRight: true), _):
      rebuild(.state)
    case (.damaged(isKeyRight: false), _), (.absent, .damaged): condition = .damaged
    }
  }

  /// Returns the files that were rebuilt since the last call.
  mutating func takeRebuilt() -> Set<File> {
    defer { rebuilt = [] }
    return rebuilt
  }

  /// Changes the value, on disk first. If it throws, `state` is unchanged, and so is the file, except if only its
  /// folder could not be synced.
  mutating func update(_ change: (inout State) -> Void) throws(StorageFailure) {
    guard condition == .ready, let file = files[.state] else { throw .notReady(condition) }
    var next = state
    change(&next)
    guard let content = JSONEncoder().encodeIfPossible(next) else { throw .disk }
    do throws(SealedStorageError) {
      try file.replace(with: content)
    } catch {
      throw StorageFailure(error)
    }
    state = next
    writeMarker()
  }

  /// Changes the value in memory, and stores it with the next update; for changes that are made again if they are lost.
  mutating func keep(_ change: (inout State) -> Void) throws(StorageFailure) {
    guard condition == .ready else { throw .notReady(condition) }
    change(&state)
  }

  /// Changes the value if the disk allows it, for changes that are made again later or that only save work.
  ///
  /// - Returns: False if the change could not be stored; then the value is unchanged.
  @discardableResult
  mutating func updateIfPossible(_ change: (inout State) -> Void) -> Bool {
    // The next update that must not be lost reports the state of the disk.
    (try? update(change)) != nil
  }

  /// Opens the store with `key` if it decrypts the files; otherwise sets the files aside and starts with the value
  /// after a loss.
  mutating func startOver(with key: SealingKey) throws(StorageFailure) {
    guard condition != .ready else { return }
    files = sealedFiles(of: key)
    open()
    guard condition != .ready else { return }
    for file in File.allCases where isPresent(file) { try setAside(file) }
    hasMarker = false
    state = restored
    condition = .ready
    rebuilt.insert(.state)
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
    hasMarker = false
    state = initial
    condition = files.isEmpty ? .keyMissing : .ready
  }

  /// Sets a file aside and goes on without it. The next `update` writes it again.
  private mutating func rebuild(_ file: File) {
    do throws(StorageFailure) {
      if isPresent(file) { try setAside(file) }
    } catch {
      condition = .unreadable
      return
    }
    if file == .marker { hasMarker = false } else { state = restored }
    condition = .ready
    rebuilt.insert(file)
  }

  /// Writes the marker after the first state.
  private mutating func writeMarker() {
    guard !hasMarker, let marker = files[.marker] else { return }
    // A failure is not an error: the next update tries again.
    hasMarker = (try? marker.replace(with: Data([1]))) != nil
  }

  private func setAside(_ name: File) throws(StorageFailure) {
    guard let file = files[name] else { return }
    do throws(SealedStorageError) {
      try file.setAside()
    } catch {
      throw StorageFailure(error)
    }
  }

  private func isPresent(_ file: File) -> Bool {
    FileManager.default.fileExists(atPath: folder.appendingPathComponent(file.rawValue).path)
  }

  private func content<Value>(of name: File, _ decode: (Data) -> Value?) -> Content<Value> {
    do throws(SealedStorageError) {
      guard let bytes = try files[name]?.read() else { return .absent }
      return decode(bytes).map(Content.found) ?? .damaged(isKeyRight: true)
    } catch {
      return error == .damaged || error == .tooLarge ? .damaged(isKeyRight: false) : .unreadable
    }
  }

  private func sealedFiles(of key: SealingKey) -> [File: SealedFile] {
    let files = File.allCases.map { file in
      let url = folder.appendingPathComponent(file.rawValue, isDirectory: false)
      let purpose = "app \(file.rawValue)"
      return (file, SealedFile(url: url, key: key, purpose: purpose, randomness: randomness))
    }
    return Dictionary(uniqueKeysWithValues: files)
  }
}

/// The result of reading one file of the store.
private enum Content<Value> {
  case found(Value)
  case absent
  /// The bytes were changed. If they were decrypted, the key is right.
  case damaged(isKeyRight: Bool)
  /// The disk returned an error.
  case unreadable

  var value: Value? {
    if case .found(let value) = self { value } else { nil }
  }

  var isDamaged: Bool {
    if case .damaged = self { true } else { false }
  }
}

/// The condition of the app's store.
public enum StorageCondition: String, Codable, Sendable, CaseIterable {
  /// The store is open.
  case ready
  /// The encryption key is lost; call `startOver(with:)` with a new key.
  case keyMissing
  /// No file of the store fits the key; call `startOver(with:)`.
  case damaged
  /// The disk returned a read error; nothing is lost, retry later.
  case unreadable

  /// The text for the user, or `nil` if the store is open.
  public var advice: String? {
    switch self {
    case .ready: nil
    case .keyMissing:
      "The app can no longer decrypt its data on this phone. Start over to continue checking."
    case .damaged:
      "The app's data on this phone is damaged or the key is wrong. Start over to continue checking."
    case .unreadable:
      "The app cannot read its data at the moment. Unlock or restart the phone, and check its disk."
    }
  }
}
