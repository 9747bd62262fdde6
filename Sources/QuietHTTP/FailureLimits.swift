import Foundation

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
  /// Failures of all clients together; nil for no limit.
  public var total: Int?
  /// The window, in seconds.
  public var windowSeconds: Int
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

  /// The number of failures of all clients at which the limits of addresses and networks are reduced.
  var totalBeforeSlowing: Int { total.map { max(1, $0 / 2) } ?? .max }

  /// The failures that `level` may have; nil for no limit.
  func limit(of level: FailureLevel, isSlowed: Bool) -> Int? {
    let divisor = isSlowed ? QuietLimit.slowedFailuresDivisor : 1
    return switch level {
    case .address: max(1, perAddress / divisor)
    case .subnet: max(1, perSubnet / divisor)
    case .network: max(1, perNetwork / divisor)
    case .subject: perSubject
    case .total: total
    }
  }
}

/// A state of a `FailureBudget` that is reported to the operator.
public enum FailureAlarm: Hashable, Sendable {
  /// Half of the total is reached: the limits of addresses and networks are reduced to a tenth.
  case slowed
  /// The total is reached: all attempts are rejected.
  case stopped
}

/// The groups by which failures are counted.
enum FailureLevel: Hashable, Sendable {
  case address, subnet, network, subject, total
}

/// The key of one counter: a group of clients, or a subject.
struct FailureCounterKey: Hashable, Sendable {
  let level: FailureLevel
  let key: BudgetKey

  init(_ level: FailureLevel, _ key: BudgetKey) {
    self.level = level
    self.key = key
  }
}

/// One counter: the failures in the window, oldest first, and the number of running attempts.
struct FailureTally: Sendable {
  private(set) var failures: ArraySlice<Date> = []
  var reserved = 0

  var isEmpty: Bool { failures.isEmpty && reserved == 0 }

  /// Removes failures outside the window, and failures in the future, which precede a clock change.
  mutating func expire(at now: Date, after windowSeconds: Int) {
    while let first = failures.first, now.timeIntervalSince(first) >= Double(windowSeconds) {
      failures.removeFirst()
    }
    while let last = failures.last, last > now { failures.removeLast() }
    // `removeFirst` of a slice does not free memory.
    if failures.startIndex > failures.count + 16 { failures = ArraySlice(Array(failures)) }
  }

  mutating func end(hasFailed: Bool, at now: Date) {
    reserved -= 1
    if hasFailed { failures.append(now) }
  }

  /// The seconds until there are fewer failures than `limit`, at least 1; nil if there are fewer now.
  func secondsToWait(_ limit: Int, at now: Date, windowSeconds: Int) -> Int? {
    guard failures.count >= limit else { return nil }
    let lastToExpire = failures[failures.startIndex + failures.count - limit]
    let seconds = Double(windowSeconds) - now.timeIntervalSince(lastToExpire)
    return max(1, Int(seconds.rounded(.up)))
  }
}
