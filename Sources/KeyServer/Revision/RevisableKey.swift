/// A key that a revision token speaks of, with the interval data it was published with.
struct RevisableKey: Hashable, Sendable {
  let bytes: [UInt8]
  let start: UInt32
  let period: UInt32
}

extension RevisableKey: CustomStringConvertible, CustomReflectable {
  var description: String { "RevisableKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
