/// All different identifiers that were heard, each with a number, found by their 16 bytes.
///
/// Open addressing at most half full. Where an identifier lies depends on all its bytes and on the
/// secret, so that nobody can send many that lie in one place (Documentation/Matching.md 5.2).
struct IdentifierTable: Sendable {
  /// In the order they were first heard.
  private(set) var identifiers: [(UInt64, UInt64)] = []
  private var slots: [Int32]
  private let mask: UInt64
  private let secret: (UInt64, UInt64)

  private static let empty: Int32 = -1

  /// A table with room for `count` identifiers.
  init(capacity count: Int, secret: ProbeSecret) {
    let slotCount = 1 << (Int.bitWidth - max(2 * count - 1, 1).leadingZeroBitCount)
    slots = [Int32](repeating: Self.empty, count: slotCount)
    mask = UInt64(slotCount - 1)
    self.secret = secret.table
  }

  /// The number of `words`, which are new or known.
  mutating func insert(_ words: (UInt64, UInt64)) -> Int {
    let slot = slot(of: words)
    guard slots[slot] == Self.empty else { return Int(slots[slot]) }
    slots[slot] = Int32(identifiers.count)
    identifiers.append(words)
    return identifiers.count - 1
  }

  /// The number of `words`; nil where they were not heard.
  func number(of words: (UInt64, UInt64)) -> Int? {
    let number = slots[slot(of: words)]
    return number == Self.empty ? nil : Int(number)
  }

  /// The slot that holds `words`, or the empty one where they would lie.
  private func slot(of words: (UInt64, UInt64)) -> Int {
    var slot = place(of: words)
    while slots[Int(slot)] != Self.empty, identifiers[Int(slots[Int(slot)])] != words {
      slot = (slot + 1) & mask
    }
    return Int(slot)
  }

  private func place(of words: (UInt64, UInt64)) -> UInt64 {
    let product = (words.0 ^ secret.0).multipliedFullWidth(by: words.1 ^ secret.1)
    return (product.high ^ product.low) & mask
  }

  /// The most slots that are looked at for an identifier of the table: for tests.
  var longestProbe: Int {
    identifiers.reduce(0) { longest, words in
      let distance = UInt64(slot(of: words)) &- place(of: words) & mask
      return max(longest, Int(distance & mask) + 1)
    }
  }
}
