import ExposureKeys

/// A key that a revision token speaks of, with the interval data it was published with.
struct RevisableKey: Hashable, Sendable {
  let key: TemporaryExposureKey

  init(_ key: TemporaryExposureKey) {
    self.key = key
  }
}

extension RevisableKey: CustomStringConvertible, CustomReflectable {
  var description: String { "RevisableKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
