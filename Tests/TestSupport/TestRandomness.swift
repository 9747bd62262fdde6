// SPDX-License-Identifier: Apache-2.0
import Synchronization
import World

/// A random source for tests: the same seed gives the same bytes.
public final class TestRandomness: Randomness {
  private let generator: Mutex<SeededGenerator>

  /// A source that starts at `seed`.
  public init(seed: UInt64 = 7) {
    generator = Mutex(SeededGenerator(seed: seed))
  }

  public func bytes(_ count: Int) -> [UInt8] {
    generator.withLock { generator in
      // Tests draw millions of bytes, and generic code is slow without optimization.
      [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        for index in 0..<count {
          buffer[index] = UInt8(truncatingIfNeeded: generator.next())
        }
        initialized = count
      }
    }
  }
}
