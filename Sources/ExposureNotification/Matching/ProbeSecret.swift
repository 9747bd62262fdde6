/// Numbers that nobody outside this run knows, which decide where an identifier lies in the matcher's
/// tables.
///
/// Strangers choose what a phone hears. Without a secret they could send identifiers that all fall
/// into one place, and make every search crawl (Documentation/Matching.md 5.1).
package struct ProbeSecret: Sendable {
  /// How many random bytes a secret takes.
  package static let byteCount = 32

  let filter: (UInt64, UInt64)
  let table: (UInt64, UInt64)

  /// The secret of `bytes`, which come from the `Randomness` of the phone; missing ones are zero.
  package init(bytes: [UInt8]) {
    func word(_ index: Int) -> UInt64 {
      bytes.dropFirst(index * 8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
    filter = (word(0), word(1))
    table = (word(2), word(3))
  }
}

extension ProbeSecret: CustomStringConvertible, CustomReflectable {
  package var description: String { "ProbeSecret" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
