/// A key that a revision token speaks of, with the interval data it was published with.
struct RevisableKey: Hashable, Sendable {
  let bytes: [UInt8]
  let start: UInt32
  let period: UInt32

  /// By the key alone and all of its bytes at once: they are random, and hardly two entries share them.
  func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

extension RevisableKey: CustomStringConvertible, CustomReflectable {
  var description: String { "RevisableKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
