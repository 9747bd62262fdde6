import Foundation
import GRDB

/// An upload with its rows as the table takes them, made before the one transaction that all wait for.
struct StoredUpload: Sendable {
  let admitted: AdmittedUpload
  /// One statement that inserts all of its keys; nil where not all of them are to be in.
  let insertion: Insertion?

  /// The rows of some keys.
  struct Insertion: Sendable {
    let sql: String
    let arguments: StatementArguments
    /// When the first of them is released.
    let releasedFrom: Date

    /// One statement for all `keys`; nil where there is none.
    init?(_ keys: [PublishableKey]) {
      guard let first = keys.map(\.releasedAt).min() else { return nil }
      let rows = Array(repeating: StoredKey.places, count: keys.count).joined(separator: ",")
      sql = "INSERT INTO diagnosis_key (\(StoredKey.columns)) VALUES \(rows)"
      var values: [(any DatabaseValueConvertible)?] = []
      values.reserveCapacity(keys.count * StoredKey.columnCount)
      for key in keys { values += StoredKey(key).values }
      arguments = StatementArguments(values)
      releasedFrom = first
    }
  }

  init(_ admitted: AdmittedUpload) {
    self.admitted = admitted
    let inserted = admitted.usual.plan.inserted
    insertion =
      inserted.count == admitted.keys.count ? Insertion(inserted) : nil
  }
}

extension StoredUpload: CustomStringConvertible, CustomReflectable {
  var description: String { "StoredUpload" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
