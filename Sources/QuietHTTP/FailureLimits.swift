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

  /// The failures of all clients from which on each of them has fewer.
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

/// A state of a `FailureBudget` that an operator should know of.
public enum FailureAlarm: Hashable, Sendable {
  /// Half of the total is reached: every address and network has a tenth of its failures.
  case slowed
  /// The total is reached: all attempts wait.
  case stopped
}

/// The groups by which failures are counted.
enum FailureLevel: Hashable, Sendable {
  case address, subnet, network, subject, total
}

/// One group of clients or one subject.
struct FailurePlace: Hashable, Sendable {
  let level: FailureLevel
  let key: BudgetKey

  init(_ level: FailureLevel, _ key: BudgetKey) {
    self.level = level
    self.key = key
  }
}

/// The failures of one place in the window, oldest first, and the attempts that have not ended.
struct FailureTally: Sendable {
  private(set) var failures: ArraySlice<Date> = []
  var reserved = 0

  var isEmpty: Bool { failures.isEmpty && reserved == 0 }

  /// Forgets failures outside the window. Those in the future precede a clock change.
  mutating func expire(at now: Date, after windowSeconds: Int) {
    while let first = failures.first, now.timeIntervalSince(first) >= Double(windowSeconds) {
      failures.removeFirst()
    }
    while let last = failures.last, last > now { failures.removeLast() }
    // A slice keeps the memory of what was removed from its start.
    if failures.startIndex > failures.count + 16 { failures = ArraySlice(Array(failures)) }
  }

  mutating func end(hasFailed: Bool, at now: Date) {
    reserved -= 1
    if hasFailed { failures.append(now) }
  }

  /// Nil if there are fewer failures than `limit`; otherwise the seconds until there are, at least 1.
  func secondsToWait(_ limit: Int, at now: Date, windowSeconds: Int) -> Int? {
    guard failures.count >= limit else { return nil }
    let lastToExpire = failures[failures.startIndex + failures.count - limit]
    let seconds = Double(windowSeconds) - now.timeIntervalSince(lastToExpire)
    return max(1, Int(seconds.rounded(.up)))
  }
}
