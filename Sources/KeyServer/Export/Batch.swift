import Foundation
import KeyServerAPI

/// A closed set of keys: one key file.
struct Batch: Hashable, Sendable {
  /// Names it in the database.
  let id: Int64
  /// Whose keys it holds.
  let region: String
  /// When its period began.
  let start: Date
  /// When its period ended, plus a second for each earlier file of the same period.
  let end: Date

  /// The name phones fetch it by; nil before 2001 and after 2286.
  var name: KeyFileName? {
    KeyFileName(
      start: Int64(start.timeIntervalSince1970), end: Int64(end.timeIntervalSince1970))
  }
}
