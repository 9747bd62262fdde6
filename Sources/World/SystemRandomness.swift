// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The operating system's cryptographic random source.
public struct SystemRandomness: Randomness {
  /// Creates the source.
  public init() {}

  public func bytes(_ count: Int) -> [UInt8] {
    // One call: the standard library's generator makes a system call for each number.
    [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, initializedCount in
      if let start = buffer.baseAddress { arc4random_buf(start, buffer.count) }
      initializedCount = buffer.count
    }
  }
}
