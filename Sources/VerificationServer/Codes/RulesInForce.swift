// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import World

/// The rules for new codes that may change while the server runs. Codes that were issued before keep theirs.
public struct IssueRules: Hashable, Sendable {
  /// The lifetime of a PIN in seconds.
  public var pinLifetime: TimeInterval
  /// The length of a short code, 6 to 11 digits.
  public var shortCodeDigits: Int
  /// The lifetime of a short code in seconds.
  public var shortCodeLifetime: TimeInterval
  /// The lifetime of a long code in seconds.
  public var longCodeLifetime: TimeInterval
  /// If true, codes are issued only with the date of symptoms or test.
  public var requiresDate: Bool

  /// Creates rules, which are validated when they are used.
  public init(
    pinLifetime: TimeInterval, shortCodeDigits: Int, shortCodeLifetime: TimeInterval,
    longCodeLifetime: TimeInterval, requiresDate: Bool
  ) {
    self.pinLifetime = pinLifetime
    self.shortCodeDigits = shortCodeDigits
    self.shortCodeLifetime = shortCodeLifetime
    self.longCodeLifetime = longCodeLifetime
    self.requiresDate = requiresDate
  }
}

extension VerificationServerConfiguration {
  /// The rules for new codes of this configuration.
  public var issueRules: IssueRules {
    IssueRules(
      pinLifetime: codeLifetime, shortCodeDigits: policy.shortCodeDigits,
      shortCodeLifetime: policy.shortCodeLifetime, longCodeLifetime: policy.longCodeLifetime,
      requiresDate: policy.requiresDate)
  }
}

/// The rules in force: those of the settings, which are read again after they have changed.
struct RulesInForce: Sendable {
  private let policyAtStart: CodePolicy
  private let read: @Sendable () -> IssueRules

  /// Rules that do not change.
  init(pinLifetime: TimeInterval, policy: CodePolicy) {
    policyAtStart = policy
    let rules = IssueRules(
      pinLifetime: pinLifetime, shortCodeDigits: policy.shortCodeDigits,
      shortCodeLifetime: policy.shortCodeLifetime, longCodeLifetime: policy.longCodeLifetime,
      requiresDate: policy.requiresDate)
    read = { rules }
  }

  /// The rules of `configuration`. If new ones cannot be read or contradict the lifetimes of tokens, which change only
  /// with a new start, the previous rules stay in force, and the log says so.
  init(_ configuration: VerificationServerConfiguration, clock: any WallClock, logger: Logger) {
    policyAtStart = configuration.policy
    var reread: (@Sendable () throws -> IssueRules)?
    if let readIssueRules = configuration.readIssueRules {
      reread = { try Self.checked(try readIssueRules(), configuration) }
    }
    let latest = RereadFile(
      configuration.issueRules, name: "rules for codes", file: "settings", read: reread,
      version: configuration.issueRulesVersion, clock: clock, logger: logger)
    read = { latest.value }
  }

  /// The lifetime of a PIN in seconds.
  var pinLifetime: TimeInterval { read().pinLifetime }

  /// The rules of Google's contract.
  var policy: CodePolicy {
    let rules = read()
    var policy = policyAtStart
    policy.shortCodeDigits = rules.shortCodeDigits
    policy.shortCodeLifetime = rules.shortCodeLifetime
    policy.longCodeLifetime = rules.longCodeLifetime
    policy.requiresDate = rules.requiresDate
    return policy
  }

  private static func checked(
    _ rules: IssueRules, _ running: VerificationServerConfiguration
  ) throws -> IssueRules {
    var configuration = running
    configuration.codeLifetime = rules.pinLifetime
    configuration.policy.shortCodeDigits = rules.shortCodeDigits
    configuration.policy.shortCodeLifetime = rules.shortCodeLifetime
    configuration.policy.longCodeLifetime = rules.longCodeLifetime
    try configuration.check()
    return rules
  }
}
