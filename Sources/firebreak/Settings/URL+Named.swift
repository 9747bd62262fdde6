import Foundation

extension URL {
  /// What `name` in a server's settings names: a path from this folder on, or one from the root on.
  func file(named name: String) -> URL {
    name.hasPrefix("/") ? URL(fileURLWithPath: name) : appendingPathComponent(name)
  }
}
