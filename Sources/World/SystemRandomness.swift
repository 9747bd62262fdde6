/// The operating system's cryptographic random source.
public struct SystemRandomness: Randomness {
  /// The source of the process.
  public init() {}

  public func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
