// SPDX-License-Identifier: Apache-2.0

/// The source of keys, identifiers and padding.
///
/// Programs use `SystemRandomness`. A simulation uses a seeded source, so that the same seed gives the
/// same run. A seeded source must never reach a real phone or server.
public protocol Randomness: Sendable {
  /// Returns `count` unpredictable bytes.
  func bytes(_ count: Int) -> [UInt8]
}

extension Randomness {
  /// Returns a number of `range`; all are equally likely.
  public func number(in range: ClosedRange<Int>) -> Int {
    var generator = RandomnessGenerator(source: self)
    return Int.random(in: range, using: &generator)
  }

  /// Returns the elements of `collection` in random order.
  public func shuffled<Elements: Collection>(_ collection: Elements) -> [Elements.Element] {
    var generator = RandomnessGenerator(source: self)
    return collection.shuffled(using: &generator)
  }
}

/// A `Randomness` as a generator of the standard library.
private struct RandomnessGenerator<Source: Randomness>: RandomNumberGenerator {
  let source: Source

  mutating func next() -> UInt64 {
    UInt64(bigEndian: source.bytes(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
  }
}
