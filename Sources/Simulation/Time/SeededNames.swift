/// The chance of one story: a source of its own for everybody in it, all from one seed.
public struct SeededNames: Sendable {
  /// The seed that tells the story again.
  public let seed: UInt64

  /// The chance of the story with this seed.
  public init(seed: UInt64) {
    self.seed = seed
  }

  /// The source of whoever is called `name`; the same name draws the same.
  public func source(_ name: String) -> SeededRandomness {
    SeededRandomness(seed: seed, name: name)
  }
}
