import Foundation

/// On how many threads a detection searches.
enum DetectionThreads {
  /// At most this many, however many processors there are: reading a file keeps no more busy
  /// (Documentation/Matching.md 8).
  static let most = 4

  /// As many as there are processors at work.
  static let available = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), most)
}
