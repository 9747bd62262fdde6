/// Chance by number: the same seed, stream and index give the same 64 bits, in any order.
///
/// The mixing of SplitMix64. Within a stream no two indices give the same bits, so that what is made of
/// all 64 is distinct without a look at the others. Never for a key that somebody carries.
struct NumberedChance: Sendable {
  /// What the bits are for; streams are independent of each other.
  enum Stream: UInt64 {
    case keyHead, keyTail, day, risk, identifierHead, identifierTail, metadata, moment
    case strength, plantedKey, plantedInterval
  }

  private static let streams: UInt64 = 16
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
  }

  /// The bits of `stream` at `index`, which is not negative.
  func bits(_ stream: Stream, _ index: Int) -> UInt64 {
    let place = UInt64(index) &* Self.streams &+ stream.rawValue
    return Self.mixed(Self.mixed(seed) &+ place &* 0x9e37_79b9_7f4a_7c15)
  }

  /// A number of 0 ..< `count`.
  func number(_ stream: Stream, _ index: Int, below count: Int) -> Int {
    Int(bits(stream, index).multipliedFullWidth(by: UInt64(count)).high)
  }

  private static func mixed(_ bits: UInt64) -> UInt64 {
    var bits = bits
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return bits ^ bits >> 31
  }
}
