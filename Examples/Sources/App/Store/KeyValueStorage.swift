import Foundation

/// Where the app's store keeps its values: `UserDefaults` on Apple's systems, a sealed file here.
public protocol KeyValueStorage: AnyObject {
  /// The value under `key`, nil where there is none.
  func data(forKey key: String) -> Data?

  /// Replaces the value under `key`. Whoever implements it tells the person where that fails.
  func set(_ data: Data, forKey key: String)
}
