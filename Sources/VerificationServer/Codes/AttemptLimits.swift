// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP

/// The number of failures before a client has to wait, and of codes that may be issued.
///
/// Only failures count, so that correct codes do not lock out a hospital behind one address. See
/// Documentation/Decisions/0029-failures-have-budgets.md.
public struct AttemptLimits: Sendable, Hashable {
  /// Failed attempts from one address (IPv4 whole, IPv6 to 64 bits) in a window.
  public var perAddress: Int
  /// Failed attempts from one IPv6 network of 56 bits in a window.
  public var perSubnet: Int
  /// Failed attempts from one IPv6 network of 48 bits in a window.
  public var perNetwork: Int
  /// Failed attempts with the same code in a window.
  public var perCode: Int
  /// Failed attempts with codes from all addresses in a window, if as many codes are live as the length of codes
  /// allows; with fewer, more fit. When a quarter is reached, the limits of addresses and networks are reduced to a
  /// tenth. The length of new codes depends on this number.
  public var total: Int
  /// Codes that may be issued with one API key in a day.
  public var issuesPerApiKey: Int
  /// The window, in seconds.
  public var windowSeconds: Int
  /// The window of issues, in seconds: a day.
  public static let issueWindowSeconds = 86_400

  /// The defaults: in ten minutes 30 failures per address, 60 and 120 per network, 10 per code and 12,000 in total;
  /// 20,000 codes per API key in a day.
  public init(
    perAddress: Int = 30, perSubnet: Int = 60, perNetwork: Int = 120, perCode: Int = 10,
    total: Int = 12_000, issuesPerApiKey: Int = 20_000, windowSeconds: Int = 600
  ) {
    self.perAddress = perAddress
    self.perSubnet = perSubnet
    self.perNetwork = perNetwork
    self.perCode = perCode
    self.total = total
    self.issuesPerApiKey = issuesPerApiKey
    self.windowSeconds = windowSeconds
  }

  /// Codes that may be issued with one API key of kind `canary` in a day.
  var issuesPerCanary: Int { min(issuesPerApiKey, VerificationLimit.canaryCodesPerDay) }

  /// The limits of attempts with codes.
  var ofCodes: FailureLimits {
    var limits = ofCredentials
    limits.perSubject = perCode
    limits.total = total
    return limits
  }

  /// The limits of attempts with credentials that are too long to guess.
  var ofCredentials: FailureLimits {
    FailureLimits(
      perAddress: perAddress, perSubnet: perSubnet, perNetwork: perNetwork,
      windowSeconds: windowSeconds)
  }

  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validate() throws {
    let numbers = [
      ("perAddress", perAddress), ("perSubnet", perSubnet), ("perNetwork", perNetwork),
      ("perCode", perCode), ("total", total), ("issuesPerApiKey", issuesPerApiKey),
    ]
    for (name, number) in numbers where !VerificationLimit.attempts.contains(number) {
      throw VerificationServerError.badConfiguration(
        "attempts.\(name): must be 1 to \(VerificationLimit.attempts.upperBound).")
    }
    guard VerificationLimit.attemptWindowSeconds.contains(windowSeconds) else {
      throw VerificationServerError.badConfiguration(
        "attempts.windowSeconds: must be a second to a day.")
    }
  }
}

/// Logs an error for the operator when codes are being guessed.
struct GuessingAlarm: Sendable {
  let logger: Logger
  let limits: AttemptLimits

  func report(_ alarm: FailureAlarm) {
    logger.error(
      """
      codes are being guessed: \(cause(of: alarm)); \(Self.effect(of: alarm)); block the addresses at the \
      proxy
      """)
  }

  private func cause(of alarm: FailureAlarm) -> String {
    let seconds = "\(limits.windowSeconds) seconds"
    return switch alarm {
    case .slowed: "wrong codes have used up a quarter of the guesses of \(seconds)"
    case .guarded: "wrong codes have used up half of the guesses of \(seconds)"
    case .stopped: "wrong codes have used up three quarters of the guesses of \(seconds)"
    case .beyondLimits:
      """
      addresses that have used up their wrong codes have used up half of what is left for them in \
      \(seconds)
      """
    }
  }

  private static func effect(of alarm: FailureAlarm) -> String {
    switch alarm {
    case .slowed:
      "the failure limits of addresses are a tenth of the usual ones, and new codes are longer"
    case .guarded: "one wrong code uses up the limit of an address and of its network"
    case .stopped:
      "short codes from before are refused until there are fewer; new codes are longer and work"
    case .beyondLimits: "right codes of these addresses may have to wait, and of others not"
    }
  }
}
