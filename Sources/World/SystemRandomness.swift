import Foundation

/// The operating system's cryptographic random source.
public struct SystemRandomness: Randomness {
  /// The source of the process.
  public init() {}

  public func bytes(_ count: Int) -> [UInt8] {
    // In one call: the standard library's generator asks the system for each number by itself.
    [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, initializedCount in
      if let start = buffer.baseAddress { arc4random_buf(start, buffer.count) }
      initializedCount = buffer.count
    }
  }
}
