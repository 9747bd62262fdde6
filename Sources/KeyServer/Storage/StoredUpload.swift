import Foundation

/// An upload with its rows as the table takes them, made before the one transaction that all wait for.
struct StoredUpload: Sendable {
  let admitted: AdmittedUpload
  /// One statement that inserts all of its keys; nil where not all of them are to be in, or there is none.
  let insertion: KeyInsertion?
  /// When the first of them is released; nil where there is none.
  let releasedFrom: Date?

  init(_ admitted: AdmittedUpload) {
    self.admitted = admitted
    let inserted = admitted.usual.plan.inserted
    releasedFrom = inserted.map(\.releasedAt).min()
    insertion =
      inserted.count == admitted.keys.count && !inserted.isEmpty
      ? KeyInsertion(inserted.map { StoredKey($0) }) : nil
  }
}

extension StoredUpload: CustomStringConvertible, CustomReflectable {
  var description: String { "StoredUpload" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
