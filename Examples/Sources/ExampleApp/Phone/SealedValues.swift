import App
import Foundation
import SealedStorage
import World

/// The app's values, each in a sealed file of its own.
final class SealedValues: KeyValueStorage {
  private let folder: URL
  private let key: SealingKey

  init(in folder: URL, key: SealingKey) {
    self.folder = folder
    self.key = key
  }

  func data(forKey name: String) -> Data? {
    do {
      return try file(name).read()
    } catch {
      Terminal.warn("the app's \(name) cannot be read and begins anew: \(error)")
      _ = try? file(name).setAside()
      return nil
    }
  }

  func set(_ data: Data, forKey name: String) {
    do {
      try file(name).replace(with: data)
    } catch {
      Terminal.warn("the app's \(name) could not be kept: \(error)")
    }
  }

  private func file(_ name: String) -> SealedFile {
    SealedFile(
      url: folder.appendingPathComponent(name), key: key, purpose: "app \(name)",
      randomness: SystemRandomness())
  }
}
