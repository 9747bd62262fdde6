// SPDX-License-Identifier: Apache-2.0

/// An event of a run, one line of `events.csv`.
public struct RunEvent: Hashable, Sendable {
  /// The kind of an event.
  public enum Kind: Hashable, Sendable {
    /// An infection, with the person who infected; nil for the first cases.
    case infected(by: Int?)
    case symptoms
    case tested(isPositive: Bool)
    /// The keys were published.
    case uploaded
    /// The app or a server refused an upload, with the reason.
    case uploadFailed(String)
    /// The phone showed a notice.
    case notified(Alert)
    /// The person was a close contact of an infectious person who uploaded, and the phone has shown no alert in time.
    case missed
  }

  /// The time in seconds of the run.
  public let second: Int
  /// The person.
  public let person: Int
  /// The kind of the event.
  public let kind: Kind

  /// Creates an event.
  public init(second: Int, person: Int, kind: Kind) {
    self.second = second
    self.person = person
    self.kind = kind
  }

  /// The day in a run of `days` days, from 0. The end of the run belongs to its last day.
  func day(ofDays days: Int) -> Int { min(second / Epidemic.daySeconds, days - 1) }
}

/// A notice of a phone.
public enum Alert: String, Hashable, Sendable {
  /// A high risk after a close contact with an infectious person who uploaded.
  case trueAlert = "true"
  /// A high risk without one.
  case falseAlert = "false"
  /// A low risk, which is not an alert.
  case lowRisk = "low"
}

/// The result of one share of users.
public struct RunResult: Hashable, Sendable {
  /// The share of people with the app.
  public let adoption: Double
  /// The number of phones.
  public let phones: Int
  /// All events in the order of their times.
  public let events: [RunEvent]
  /// The number of infected people, the first cases included.
  public let infected: Int
  /// The mean number of people that those infected early have infected; nil without any.
  public let reproductionNumber: Double?
  /// The number of scans in which a phone received another one.
  public let receivingScans: Int
  /// The number of checks of all phones, and of those that failed.
  public let checks: Int
  public let failedChecks: Int
  /// The number of checks for which the server had published no key file for two weeks.
  public let checksWithoutKeyFiles: Int
  /// The number of decoys that phones have sent.
  public let decoys: Int

  /// Creates a result.
  public init(
    adoption: Double, phones: Int, events: [RunEvent], infected: Int, reproductionNumber: Double?,
    receivingScans: Int = 0, checks: Int = 0, failedChecks: Int = 0,
    checksWithoutKeyFiles: Int = 0, decoys: Int = 0
  ) {
    self.adoption = adoption
    self.phones = phones
    self.events = events
    self.infected = infected
    self.reproductionNumber = reproductionNumber
    self.receivingScans = receivingScans
    self.checks = checks
    self.failedChecks = failedChecks
    self.checksWithoutKeyFiles = checksWithoutKeyFiles
    self.decoys = decoys
  }

  /// The number of uploads.
  public var uploads: Int { count { $0 == .uploaded } }
  /// The number of people with an alert.
  public var notified: Int { firstAlerts.count }
  /// The people whose first alert was true.
  public var trueAlerts: Int { firstAlerts.values.count { $0.alert == .trueAlert } }
  /// The people whose first alert was false.
  public var falseAlerts: Int { firstAlerts.values.count { $0.alert == .falseAlert } }
  /// The close contacts with the app who got no alert in time.
  public var missedAlerts: Int { count { $0 == .missed } }

  /// The people with an alert who were infected before it.
  public var infectedBeforeAlert: Int {
    let infections = Dictionary(
      events.compactMap { event -> (Int, Int)? in
        if case .infected = event.kind { (event.person, event.second) } else { nil }
      }, uniquingKeysWith: { first, _ in first })
    return firstAlerts.count { person, alert in
      infections[person].map { $0 <= alert.second } ?? false
    }
  }

  /// The events of a kind on each day.
  public func daily(_ days: Int, _ isCounted: (RunEvent.Kind) -> Bool) -> [Int] {
    events.reduce(into: [Int](repeating: 0, count: days)) { counts, event in
      if isCounted(event.kind) { counts[event.day(ofDays: days)] += 1 }
    }
  }

  private func count(_ isCounted: (RunEvent.Kind) -> Bool) -> Int {
    events.count { isCounted($0.kind) }
  }

  private var firstAlerts: [Int: (second: Int, alert: Alert)] {
    events.reduce(into: [:]) { alerts, event in
      guard case .notified(let alert) = event.kind, alert != .lowRisk,
        alerts[event.person] == nil
      else { return }
      alerts[event.person] = (event.second, alert)
    }
  }
}
