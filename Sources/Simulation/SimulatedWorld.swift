// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import Logging
import Synchronization
import World

/// The clock, the radio channel and the random sources that simulated phones and servers share.
///
/// Time passes only in `step(until:)`. Phones depend on each other only between its parts, so the same seed gives the
/// same run on any number of threads.
public struct SimulatedWorld: Sendable {
  /// The simulated time.
  public let clock: SimulatedClock
  /// The radio channel between the phones.
  public let air: SimulatedAir<Advertisement>
  /// The random sources.
  public let randomness: SeededSources
  /// The logger of all phones and servers.
  public let logger: Logger

  /// The number of threads that compute phones.
  public let threads: Int

  /// Creates a world without phones.
  ///
  /// - Parameters:
  ///   - recordsBeacons: True if the radio channel keeps all identifiers, for observers.
  ///   - model: The parameters of the radio channel.
  ///   - threads: The number of threads that compute phones; it does not change any result.
  public init(
    start: Date, seed: UInt64, recordsBeacons: Bool = true, model: AirModel = AirModel(),
    threads: Int = 1, logger: Logger
  ) {
    randomness = SeededSources(seed: seed)
    clock = SimulatedClock(now: start)
    air = SimulatedAir(
      randomness: randomness.source("air"), model: model, records: recordsBeacons)
    self.threads = threads
    self.logger = logger
  }

  /// The longest time that is computed at once, in seconds.
  static let stepSeconds: TimeInterval = 3_600

  /// Runs the phones until `end`. They stay in the range of those that the radio channel has placed near them.
  public func run(until end: Date, phones: [SimulatedPhone]) async {
    let nearby = air.nearby(phones.map(\.name))
    while clock.now < end {
      let hour = (clock.now.timeIntervalSince1970 / Self.stepSeconds).rounded(.down) + 1
      let stop = min(end, Date(timeIntervalSince1970: hour * Self.stepSeconds))
      await step(until: stop, phones: phones, nearby: nearby)
    }
  }

  /// Runs the phones until `end`, in one step.
  ///
  /// First all phones send the beacons of this time, then all scan. Within each of both, no phone depends on another
  /// one, so that threads may compute them in any order.
  ///
  /// - Parameter nearby: The phones in the range of each phone.
  public func step(until end: Date, phones: [SimulatedPhone], nearby: [[NearbyPhone]]) async {
    let start = clock.now
    let beacons = await phones.concurrentMap(threads) { _, phone in
      await phone.device.sendBeacons(until: end)
    }
    clock.advance(to: end)
    _ = await phones.concurrentMap(threads) { number, phone in
      guard let scans = phone.radio.scans(after: start, until: end, nearby[number], beacons)
      else { return }
      await phone.device.receive(scans)
    }
  }

  /// Runs the background checks that are due.
  ///
  /// - Returns: The outcome of each phone; nil if none was due.
  public func checkForKeys(_ phones: [SimulatedPhone]) async -> [CheckOutcome?] {
    let now = clock.now
    return await phones.concurrentMap(threads) { _, phone in
      await phone.checkForKeys(dueAt: now)
    }
  }
}

extension Array where Element: Sendable {
  /// The results of `work` for each element with its number, in the order of the elements, computed by `threads` tasks.
  func concurrentMap<Result: Sendable>(
    _ threads: Int, _ work: @escaping @Sendable (Int, Element) async -> Result
  ) async -> [Result] {
    let next = NextNumber()
    return await withTaskGroup(of: [(Int, Result)].self) { group in
      for _ in 0..<Swift.max(threads, 1) {
        group.addTask {
          var done: [(Int, Result)] = []
          while true {
            let number = next.take()
            guard number < self.count else { return done }
            done.append((number, await work(number, self[number])))
          }
        }
      }
      var results = [Result?](repeating: nil, count: count)
      for await part in group {
        for (number, result) in part { results[number] = result }
      }
      return results.compactMap(\.self)
    }
  }
}

/// The number of the next element, for several tasks.
private final class NextNumber: Sendable {
  private let number = Atomic(0)

  func take() -> Int { number.wrappingAdd(1, ordering: .relaxed).oldValue }
}

/// A reproducible random source: the same seed and name give the same bytes.
///
/// Each part of a simulation has a source with its own name, so that one part's draws do not change
/// another's. The bytes are SHA-256 over seed, name and a counter; the seed reveals them all, so this
/// source must never be used outside a simulation.
public final class SeededRandomness: Randomness {
  private struct State {
    var counter: UInt64 = 0
    /// The drawn bytes that were not returned yet, fewer than those of a hash.
    var rest: [UInt8] = []
  }

  private let prefix: [UInt8]
  private let state = Mutex(State())

  /// Creates the source with this seed and name.
  public init(seed: UInt64, name: String) {
    prefix = Self.bytes(of: seed) + Array(name.utf8)
  }

  public func bytes(_ count: Int) -> [UInt8] {
    state.withLock { state in
      var bytes = state.rest
      bytes.reserveCapacity(count + SHA256.byteCount)
      while bytes.count < count {
        bytes += SHA256.hash(data: prefix + [0] + Self.bytes(of: state.counter))
        state.counter += 1
      }
      // A copy, because an array keeps its capacity. Each phone has a source, and a decoy draws 24 KiB.
      state.rest = Array(bytes[count...])
      bytes.removeLast(bytes.count - count)
      return bytes
    }
  }

  /// The memory of the bytes that were not returned yet, in bytes.
  var restCapacity: Int { state.withLock { $0.rest.capacity } }

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
