import Crypto
import Foundation
import Synchronization
import World

/// A reproducible random source: the same seed and name give the same bytes.
///
/// Each part of a simulation has a source with its own name, so that one part's draws do not change
/// another's. The bytes are SHA-256 over seed, name and a counter; the seed reveals them all, so this
/// source must never be used outside a simulation.
public final class SeededRandomness: Randomness {
  private struct State {
    var counter: UInt64 = 0
    var pool: [UInt8] = []
  }

  private let prefix: [UInt8]
  private let state = Mutex(State())

  /// Creates the source with this seed and name.
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

/// The random sources of one simulation, all from one seed.
public struct SeededSources: Sendable {
  /// The seed.
  public let seed: UInt64

  /// Creates the sources of this seed.
  public init(seed: UInt64) {
    self.seed = seed
  }

  /// Creates the source with this name; the same name gives the same bytes.
  public func source(_ name: String) -> SeededRandomness {
    SeededRandomness(seed: seed, name: name)
  }
}
