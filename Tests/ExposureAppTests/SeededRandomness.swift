import Synchronization
import World

/// The same bytes for the same seed.
final class SeededRandomness: Randomness {
  private let state: Mutex<UInt64>

  init(seed: UInt64 = 7) { state = Mutex(seed) }

  func bytes(_ count: Int) -> [UInt8] {
    state.withLock { state in
      (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
      }
    }
  }
}
