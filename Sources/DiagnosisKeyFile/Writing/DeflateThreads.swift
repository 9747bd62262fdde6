import Foundation

/// On how many threads a key file is deflated.
enum DeflateThreads {
  /// As many as there are processors at work, within `DeflateLimit.threads`.
  static let available = within(sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// The number nearest to `wanted` that is allowed.
  static func within(_ wanted: Int) -> Int {
    min(max(wanted, DeflateLimit.threads.lowerBound), DeflateLimit.threads.upperBound)
  }
}
