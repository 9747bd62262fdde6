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

extension FailureLevel {
  /// True for a group of clients that has one owner.
  fileprivate var isNarrow: Bool { [.address, .subnet, .network].contains(self) }
}
