/// Lets the standard library draw from a `Randomness`.
struct RandomnessGenerator<Source: Randomness>: RandomNumberGenerator {
  let source: Source

  mutating func next() -> UInt64 {
    source.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
