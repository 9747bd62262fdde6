// SPDX-License-Identifier: Apache-2.0

/// The limits of a `FailureBudget`: failures in a sliding window.
public struct FailureLimits: Sendable, Hashable {
  /// Failures of one address: all bits of IPv4, 64 bits of IPv6.
  public var perAddress: Int
  /// Failures of one IPv6 network of 56 bits, the usual size of a household.
  public var perSubnet: Int
  /// Failures of one IPv6 network of 48 bits, the usual size of a company or a rented server.
  public var perNetwork: Int
  /// Failures on one subject, such as a code; nil for no limit.
  public var perSubject: Int?
  /// The weight of the failures of all clients together; nil for no limit.
  public var total: Int?
  /// The window, in seconds.
  public var windowSeconds: Int
  /// True if attempts of a client that has used up its failures are verified too. False if each attempt has a cost,
  /// such as an SMS.
  public var verifiesExcess = true
  /// Attempts of such clients that wait to be verified. Further ones are refused, and those above the share of an
  /// address or network.
  public var waitingExcessMax = QuietLimit.waitingExcessAttemptsMax
  /// Keys in memory for each level.
  var keysMax = QuietLimit.budgetKeysMax

  /// Limits by address and network, and if given by subject and in total.
  ///
  /// Without `perSubnet` and `perNetwork` a network has twice and four times the failures of an address.
  public init(
    perAddress: Int, perSubnet: Int? = nil, perNetwork: Int? = nil, perSubject: Int? = nil,
    total: Int? = nil, windowSeconds: Int
  ) {
    self.perAddress = perAddress
    self.perSubnet = perSubnet ?? 2 * perAddress
    self.perNetwork = perNetwork ?? 4 * perAddress
    self.perSubject = perSubject
    self.total = total
    self.windowSeconds = windowSeconds
  }

  /// The failures that `level` may have; nil for no limit.
  func limit(of level: FailureLevel, under pressure: FailurePressure) -> Int? {
    let usual: Int
    switch level {
    case .subject: return perSubject
    case .total: return nil
    case .address: usual = perAddress
    case .subnet: usual = perSubnet
    case .network: usual = perNetwork
    case .region: usual = perNetwork * QuietLimit.networksPerRegion
    case .provider: usual = perNetwork * QuietLimit.networksPerProvider
    }
    return switch pressure {
    case .low: usual
    case .slowed: max(1, usual / QuietLimit.slowedFailuresDivisor)
    case .guarded, .stopped:
      level.isNarrow ? 1 : max(1, usual / QuietLimit.guardedFailuresDivisor)
    }
  }

  /// True if an attempt is verified although the counter of `level` has reached its limit.
  func mayExceed(_ level: FailureLevel) -> Bool { verifiesExcess && level != .subject }
}

/// The groups by which failures are counted.
enum FailureLevel: Hashable, Sendable {
  /// All bits of IPv4, 64 bits of IPv6.
  case address
  /// IPv6 networks of 56, 48, 40 and 32 bits: of a household, a company, a large company, and a provider.
  case subnet, network, region, provider
  case subject, total

  static let networks = [FailureLevel.subnet, .network, .region, .provider]

  /// The bytes of an IPv6 address that name the network.
  var prefixBytes: Int {
    switch self {
    case .subnet: 7
    case .network: 6
    case .region: 5
    case .provider: 4
    default: 8
    }
  }
}

/// The key of one counter: a group of clients, or a subject.
struct FailureCounterKey: Hashable, Sendable {
  let level: FailureLevel
  let key: BudgetKey

  init(_ level: FailureLevel, _ key: BudgetKey) {
    self.level = level
    self.key = key
  }

  /// The counters of an attempt. Only IPv6 is counted by network: adjacent IPv4 addresses belong to different users.
  static func places(
    of client: NumericAddress?, on subject: String?, _ keys: BudgetKeys
  ) -> [FailureCounterKey] {
    var places = [FailureCounterKey(.address, keys.key(for: client.map { AddressPrefix($0) }))]
    if let client, client.bytes.count == 16 {
      for level in FailureLevel.networks {
        places.append(
          FailureCounterKey(
            level, keys.key(for: AddressPrefix(client, byteCount: level.prefixBytes))))
      }
    }
    if let subject { places.append(FailureCounterKey(.subject, keys.key(for: subject))) }
    return places
  }
}

extension FailureLevel {
  /// True for a group of clients that has one owner.
  var isNarrow: Bool { [.address, .subnet, .network].contains(self) }
}
