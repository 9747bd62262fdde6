// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The request bodies that a server is receiving, so that clients that send slowly or stop cannot take its
/// connections.
///
/// A body must arrive at a minimum rate. A network may have only so many unfinished bodies: of more, the one that has
/// been silent longest is closed, and of equally silent ones the slowest. All networks together may have half of the
/// connections; then one of the network with the most is closed, and of equally large networks again the most silent
/// and slowest one.
///
/// In its first second a body usually arrives. So it is closed then only if all networks together have too many, and
/// no network with several bodies has an older one.
///
/// Networks are those of clients, also behind a trusted proxy.
final class UnfinishedBodies: Sendable {
  typealias Instant = ContinuousClock.Instant
  /// Closes the connection of a body; called outside the lock.
  typealias Close = @Sendable () -> Void

  let limits: BodyRateLimits
  private let countMax: Int
  private let now: @Sendable () -> Instant
  private let state = Mutex(State())

  private struct Body {
    let network: AddressPrefix?
    let begun: Instant
    var last: Instant
    var bytes = 0
    /// The bytes at the last check of the rate.
    var checkedBytes = 0
    let close: Close
  }

  private struct State {
    var bodies: [Int: Body] = [:]
    var counts: [AddressPrefix?: Int] = [:]
    var numbers = 0

    mutating func remove(_ number: Int) -> Body? {
      guard let body = bodies.removeValue(forKey: number) else { return nil }
      let count = counts[body.network, default: 1] - 1
      counts[body.network] = count > 0 ? count : nil
      return body
    }
  }

  init(
    _ limits: BodyRateLimits = BodyRateLimits(), countMax: Int = .max,
    now: @escaping @Sendable () -> Instant = { .now }
  ) {
    self.limits = limits
    self.countMax = countMax
    self.now = now
  }

  /// Adds a body of which nothing was received. If there are too many, the slowest is closed.
  func begin(_ client: NumericAddress?, close: @escaping Close) -> Int {
    let network = client.map(Self.network)
    let (number, slowest) = state.withLock { state in
      state.numbers += 1
      let now = now()
      state.bodies[state.numbers] = Body(network: network, begun: now, last: now, close: close)
      state.counts[network, default: 0] += 1
      return (state.numbers, excess(of: network, at: now, &state))
    }
    slowest?()
    return number
  }

  /// Counts received bytes.
  func received(_ bytes: Int, _ number: Int) {
    state.withLock { state in
      let now = now()
      state.bodies[number]?.bytes += bytes
      state.bodies[number]?.last = now
    }
  }

  func isUnfinished(_ number: Int) -> Bool { state.withLock { $0.bodies[number] != nil } }

  /// Removes a body that is complete or whose connection has ended.
  func end(_ number: Int) {
    state.withLock { _ = $0.remove(number) }
  }

  /// Closes the slowest body if there are too many while this one is still unfinished. Called when it is
  /// `youthSeconds` old.
  func trim(_ number: Int) {
    let slowest = state.withLock { state in
      state.bodies[number].flatMap { excess(of: $0.network, at: now(), &state) }
    }
    slowest?()
  }

  /// Returns true if less than the minimum was received since the last check, `BodyRateLimits.checkSeconds` ago.
  func isTooSlow(_ number: Int) -> Bool {
    state.withLock { state in
      guard let body = state.bodies[number] else { return false }
      state.bodies[number]?.checkedBytes = body.bytes
      return body.bytes - body.checkedBytes < limits.bytesPerSecondMin * limits.checkSeconds
    }
  }

  /// The bodies of requests outside a server, in tests of routes.
  static let outside = UnfinishedBodies()

  /// The number of unfinished bodies.
  var count: Int { state.withLock { $0.bodies.count } }

  private func excess(of network: AddressPrefix?, at now: Instant, _ state: inout State) -> Close? {
    if state.counts[network, default: 0] > limits.perNetworkMax,
      let number = slowest(of: [network], isYoung: false, at: now, state)
    {
      return state.remove(number)?.close
    }
    guard state.bodies.count > countMax else { return nil }
    return surplus(at: now, state).flatMap { state.remove($0) }?.close
  }

  /// The body that is closed if all networks together have too many: an older one of the largest network that has one,
  /// otherwise a young one of the largest network. The only body of a network is closed if no network has several.
  private func surplus(at now: Instant, _ state: State) -> Int? {
    let byCount = Dictionary(grouping: state.counts.keys) { state.counts[$0, default: 0] }
    guard let most = byCount.keys.max() else { return nil }
    for count in byCount.keys.sorted(by: >) where count > 1 || count == most {
      let networks = Set(byCount[count] ?? [])
      if let number = slowest(of: networks, isYoung: false, at: now, state) { return number }
    }
    // The only body of a network is not taken for a flood.
    return most > 1 ? slowest(of: Set(byCount[most] ?? []), isYoung: true, at: now, state) : nil
  }

  /// The number of the most silent, then slowest, then oldest body of `networks`, among the young or the other ones.
  private func slowest(
    of networks: Set<AddressPrefix?>, isYoung: Bool, at now: Instant, _ state: State
  ) -> Int? {
    state.bodies.filter { _, body in
      networks.contains(body.network)
        && (now - body.begun < .seconds(Self.youthSeconds)) == isYoung
    }.min { left, right in
      let (one, other) = (Self.slowness(left.value, at: now), Self.slowness(right.value, at: now))
      return (one.0, one.1, left.key) < (other.0, other.1, right.key)
    }?.key
  }

  /// Bodies in the order in which they are closed: by their silence in whole seconds, then by their rate.
  private static func slowness(_ body: Body, at now: Instant) -> (Int64, Double) {
    let age = max((now - body.begun) / .seconds(1), 1)
    return (-(now - body.last).components.seconds, Double(body.bytes) / age)
  }

  /// The age in seconds below which a body is young.
  static let youthSeconds = 1

  /// All bits of IPv4, 48 bits of IPv6.
  private static func network(of client: NumericAddress) -> AddressPrefix {
    client.bytes.count == 4 ? AddressPrefix(client) : AddressPrefix(client, byteCount: 6)
  }
}

/// The limits of unfinished bodies: those of `QuietLimit`, except in tests.
package struct BodyRateLimits: Sendable {
  /// Unfinished bodies of one network.
  package var perNetworkMax = QuietLimit.unfinishedBodiesPerNetworkMax
  /// Bytes a second that a client must send, measured over `checkSeconds`.
  package var bytesPerSecondMin = QuietLimit.bodyBytesPerSecondMin
  /// The seconds over which the rate is measured.
  package var checkSeconds = QuietLimit.bodyCheckSeconds

  /// The limits of `QuietLimit`.
  package init() {}
}
