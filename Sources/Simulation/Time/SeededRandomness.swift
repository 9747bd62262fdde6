import Crypto
import Foundation
import Synchronization
import World

/// Chance that can be told again: the same seed and name give the same bytes.
///
/// Every part of a town draws from a source of its own name, so what one part draws does not change
/// what another gets. SHA-256 over seed, name and a counter: good enough to stand in for a real
/// source everywhere, but whoever knows the seed knows all, so it must never leave a simulation.
public final class SeededRandomness: Randomness {
  private struct State {
    var counter: UInt64 = 0
    var pool: [UInt8] = []
  }

  private let prefix: [UInt8]
  private let state = Mutex(State())

  /// The source called `name` of the story with this seed.
  public init(seed: UInt64, name: String) {
    prefix = Self.bytes(of: seed) + Array(name.utf8)
  }

  public func bytes(_ count: Int) -> [UInt8] {
    state.withLock { state in
      while state.pool.count < count {
        state.pool += SHA256.hash(data: prefix + [0] + Self.bytes(of: state.counter))
        state.counter += 1
      }
      defer { state.pool.removeFirst(count) }
      return Array(state.pool.prefix(count))
    }
  }

  private static func bytes(of number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian, Array.init)
  }
}
