/// Says of a key that the database has none with its bytes, or that it may have one: a Bloom filter.
///
/// Nearly every key that is uploaded is new, and to find that out from the table means to read a page for each.
/// Here a key has 24 bits or more, and one new key in 20,000 at most is taken for one that may be in.
/// Strangers choose the keys, so places are drawn by a hash that is another in each process.
struct KeyPresence {
  /// How many keys it is made for; with more it says too often that one may be in.
  let capacity: Int
  /// How many keys it was told of.
  private(set) var count = 0
  private var words: [UInt64]

  private static let bitsOfOneKey = 24
  private static let placesOfOneKey: UInt64 = 8

  /// A filter for `capacity` keys, told of none.
  init(capacity: Int) {
    self.capacity = capacity
    var wordCount = 1
    while wordCount * 64 < capacity * Self.bitsOfOneKey { wordCount *= 2 }
    words = Array(repeating: 0, count: wordCount)
  }

  /// Whether it was told of more keys than it is made for.
  var isOverfull: Bool { count > capacity }

  /// Whether it may have been told of the key with these bytes. False is certain.
  func mayHold(_ key: (UInt64, UInt64)) -> Bool {
    places(of: key).allSatisfy { words[$0.word] & $0.bit != 0 }
  }

  /// Remembers the key with these bytes.
  mutating func add(_ key: (UInt64, UInt64)) {
    count += 1
    for place in places(of: key) { words[place.word] |= place.bit }
  }

  /// Eight bits, as far apart as an odd step takes them.
  private func places(
    of key: (UInt64, UInt64)
  ) -> some Sequence<(word: Int, bit: UInt64)> {
    var hasher = Hasher()
    hasher.combine(key.0)
    hasher.combine(key.1)
    let hash = UInt64(truncatingIfNeeded: hasher.finalize())
    let (first, step) = (hash & 0xFFFF_FFFF, hash >> 32 | 1)
    let mask = UInt64(words.count * 64 - 1)
    return (0..<Self.placesOfOneKey).lazy.map { number in
      let place = (first &+ number &* step) & mask
      return (word: Int(place >> 6), bit: 1 << (place & 63))
    }
  }
}

extension KeyPresence: CustomStringConvertible, CustomReflectable {
  var description: String { "KeyPresence(\(count) of \(capacity))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
