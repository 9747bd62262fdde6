/// Where keys, identifiers and padding come from.
///
/// Real programs hand in `SystemRandomness`. A simulation hands in a seeded source, so that the same
/// seed tells the same story again; such a source must never reach a real phone or server.
public protocol Randomness: Sendable {
  /// `count` unpredictable bytes.
  func bytes(_ count: Int) -> [UInt8]
}

extension Randomness {
  /// An unpredictable number of `range`, each equally likely.
  public func number(in range: ClosedRange<Int>) -> Int {
    var generator = RandomnessGenerator(source: self)
    return Int.random(in: range, using: &generator)
  }

  /// The elements of `collection` in an unpredictable order.
  public func shuffled<Elements: Collection>(_ collection: Elements) -> [Elements.Element] {
    var generator = RandomnessGenerator(source: self)
    return collection.shuffled(using: &generator)
  }
}
