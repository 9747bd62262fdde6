/// What was done with the keys of an upload.
struct UploadOutcome: Hashable, Sendable {
  /// Keys that are in now and were not before.
  var inserted = 0
  /// Keys that became something else.
  var revised = 0
  /// Keys that their owner may revise later.
  var revisable: [RevisableKey] = []
}

extension UploadOutcome: CustomStringConvertible, CustomReflectable {
  var description: String { "UploadOutcome(\(inserted) inserted, \(revised) revised)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
