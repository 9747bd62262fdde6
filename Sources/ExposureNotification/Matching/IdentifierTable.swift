/// A hash table that numbers the distinct identifiers.
///
/// Open addressing with a load of at most one half. The slot depends on all 16 bytes and on the secret,
/// so an attacker cannot construct identifiers that collide.
struct IdentifierTable: Sendable {
  /// The identifiers in order of insertion.
  private(set) var identifiers: [(UInt64, UInt64)] = []
  private var slots: [Int32]
  private let mask: UInt64
  private let secret: (UInt64, UInt64)

  private static let empty: Int32 = -1

  init(capacity count: Int, secret: ProbeSecret) {
    let slotCount = 1 << (Int.bitWidth - max(2 * count - 1, 1).leadingZeroBitCount)
    slots = [Int32](repeating: Self.empty, count: slotCount)
    mask = UInt64(slotCount - 1)
    self.secret = secret.table
  }

  /// Returns the number of `words`, inserting them if they are new.
  mutating func insert(_ words: (UInt64, UInt64)) -> Int {
    let slot = slot(of: words)
    guard slots[slot] == Self.empty else { return Int(slots[slot]) }
    slots[slot] = Int32(identifiers.count)
    identifiers.append(words)
    return identifiers.count - 1
  }

  func number(of words: (UInt64, UInt64)) -> Int? {
    let number = slots[slot(of: words)]
    return number == Self.empty ? nil : Int(number)
  }

  /// The slot of `words`, or the empty slot for them.
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

  /// The largest number of slots that a lookup inspects.
  var longestProbe: Int {
    identifiers.reduce(0) { longest, words in
      let distance = UInt64(slot(of: words)) &- place(of: words) & mask
      return max(longest, Int(distance & mask) + 1)
    }
  }
}
