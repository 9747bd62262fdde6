import Foundation
import KeyServerAPI

/// A closed set of keys: one key file.
///
/// It is described, not listed: the keys released from `start` until `releasedBefore` that its filter
/// admits and whose bytes lie in its range. No key enters a period that is closed, so the description
/// gives the same keys whenever it is asked.
struct Batch: Hashable, Sendable {
  /// The file name root of the export it belongs to.
  let export: String
  /// What the file says it is of.
  let region: String
  /// When its period began.
  let start: Date
  /// When its period ended, plus a second for each earlier file of the same period.
  let end: Date
  /// When its period ended.
  let releasedBefore: Date
  let filter: KeyFilter
  /// The bytes of its first key; nil where it begins with the period's first.
  let firstKey: Data?
  /// The bytes of the key the next file of the period begins with; nil in the last.
  let beforeKey: Data?

  /// The name phones fetch it by; nil before 2001 and after 2286.
  var name: KeyFileName? {
    KeyFileName(
      start: Int64(start.timeIntervalSince1970), end: Int64(end.timeIntervalSince1970))
  }
}

extension Batch: CustomStringConvertible, CustomReflectable {
  /// Without its range, which is two keys.
  var description: String { "Batch(\(export)/\(name?.text ?? ""))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
