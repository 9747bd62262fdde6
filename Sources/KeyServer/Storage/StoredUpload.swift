import ExposureKeys

/// An upload with its keys as they are stored, made before the one transaction that all wait for.
struct StoredUpload: Sendable {
  let admitted: AdmittedUpload
  /// What is inserted where none of its keys is in.
  let inserted: [StoredKey]
  /// The bytes of all its keys, as memory holds them.
  let places: [(UInt64, UInt64)]

  init(_ admitted: AdmittedUpload) {
    self.admitted = admitted
    inserted = admitted.decisionIfNew.plan.inserted.map { StoredKey($0) }
    places = admitted.keys.map(\.key.key.secretWords)
  }
}

extension StoredUpload: CustomStringConvertible, CustomReflectable {
  var description: String { "StoredUpload" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
