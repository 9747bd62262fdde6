import Synchronization
import TestSupport
import World

/// Chance that can be told again.
final class SeededRandomness: Randomness {
  private let generator: Mutex<SeededGenerator>

  init(seed: UInt64) {
    generator = Mutex(SeededGenerator(seed: seed))
  }

  func bytes(_ count: Int) -> [UInt8] {
    generator.withLock { generator in
      (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
  }
}
