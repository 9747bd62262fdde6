// SPDX-License-Identifier: Apache-2.0

/// The tests, isolations and their results of a run.
public struct HealthCare: Sendable {
  /// An event that is not caused by a phone.
  public enum Event: Hashable, Sendable {
    /// The first symptoms.
    case symptoms
    /// The result of a test.
    case result(isPositive: Bool)
  }

  /// An event and its time in seconds of the run.
  public struct Dated: Hashable, Sendable {
    /// The time.
    public let second: Int
    /// The person.
    public let person: Int
    /// The event.
    public let event: Event
  }

  private let behaviour: Behaviour
  private let seed: UInt64
  /// The events to come, in no order.
  private var coming: [Dated] = []
  private var isolatedUntil: [Int: Int] = [:]
  private var positive: Set<Int> = []

  /// Creates a run without events.
  public init(_ behaviour: Behaviour, seed: UInt64) {
    self.behaviour = behaviour
    self.seed = seed
  }

  private enum Decision: UInt64 {
    case testAfterSymptoms = 1, testAfterNotice, result, isolateAfterSymptoms
    case isolateAfterPositive, isolateAfterNotice, upload, otherSymptoms
  }

  private func decides(_ decision: Decision, _ person: Int, at second: Int, _ share: Double) -> Bool
  {
    var generator = StreamGenerator(
      seed: seed, Stream.behaviour, decision.rawValue, UInt64(person), UInt64(second))
    return generator.happens(share)
  }

  /// Notes an infection, of which symptoms may follow.
  public mutating func note(infectionOf person: Int, _ course: Course) {
    guard let onset = course.onset else { return }
    coming.append(Dated(second: onset, person: person, event: .symptoms))
  }

  /// Draws the people who have symptoms of another cause on a day.
  public mutating func addOtherSymptoms(people: Int, onDay day: Int) {
    let begin = day * Epidemic.daySeconds
    for person in 0..<people
    where decides(.otherSymptoms, person, at: begin, behaviour.otherSymptoms) {
      coming.append(Dated(second: begin + 12 * 3_600, person: person, event: .symptoms))
    }
  }

  /// Takes the events up to a time, in their order, and lets people react to them.
  public mutating func takeEvents(until end: Int, epidemic: Epidemic) -> [Dated] {
    var taken: [Dated] = []
    while let next = coming.filter({ $0.second <= end }).min(by: Self.isEarlier) {
      coming.removeAll { $0 == next }
      taken.append(next)
      react(to: next, epidemic)
    }
    return taken
  }

  private static func isEarlier(_ one: Dated, _ other: Dated) -> Bool {
    (one.second, one.person, one.event == .symptoms ? 0 : 1)
      < (other.second, other.person, other.event == .symptoms ? 0 : 1)
  }

  private mutating func react(to event: Dated, _ epidemic: Epidemic) {
    let (person, second) = (event.person, event.second)
    switch event.event {
    case .symptoms:
      guard !positive.contains(person) else { return }
      if decides(.isolateAfterSymptoms, person, at: second, behaviour.isolatesAfterSymptoms) {
        isolate(person, from: second, days: behaviour.testDays)
      }
      if decides(.testAfterSymptoms, person, at: second, behaviour.testsAfterSymptoms) {
        orderTest(of: person, at: second, epidemic)
      }
    case .result(let isPositive):
      guard isPositive else { return }
      positive.insert(person)
      if decides(.isolateAfterPositive, person, at: second, behaviour.isolatesAfterPositive) {
        isolate(person, from: second, days: behaviour.isolationDays)
      }
    }
  }

  /// Lets a person react to a notice.
  public mutating func note(noticeOf person: Int, at second: Int, epidemic: Epidemic) {
    guard !positive.contains(person) else { return }
    if decides(.isolateAfterNotice, person, at: second, behaviour.isolatesAfterNotice) {
      isolate(person, from: second, days: behaviour.isolationDays)
    }
    if decides(.testAfterNotice, person, at: second, behaviour.testsAfterNotice) {
      orderTest(of: person, at: second, epidemic)
    }
  }

  /// Returns `true` if a person with a positive result uploads.
  public func uploads(_ person: Int, at second: Int) -> Bool {
    decides(.upload, person, at: second, behaviour.uploads)
  }

  /// Returns `true` if the person isolates at this time.
  public func isIsolated(_ person: Int, at second: Int) -> Bool {
    isolatedUntil[person].map { second < $0 } ?? false
  }

  /// The number of people who isolate at this time.
  public func isolatedCount(at second: Int) -> Int { isolatedUntil.values.count { second < $0 } }

  /// A test is taken a day after its order, or when its result is known if that is earlier. It is positive with the
  /// sensitivity if the person has been infected before it, within three weeks.
  private mutating func orderTest(of person: Int, at second: Int, _ epidemic: Epidemic) {
    let result = second + Int(behaviour.testDays * Double(Epidemic.daySeconds))
    let taken = min(second + Epidemic.daySeconds, result)
    let isInfected =
      epidemic.courses[person].map { (0...21 * Epidemic.daySeconds).contains(taken - $0.infected) }
      ?? false
    let share = isInfected ? behaviour.sensitivity : 1 - behaviour.specificity
    let isPositive = decides(.result, person, at: second, share)
    coming.append(Dated(second: result, person: person, event: .result(isPositive: isPositive)))
  }

  private mutating func isolate(_ person: Int, from second: Int, days: Double) {
    let end = second + Int(days * Double(Epidemic.daySeconds))
    isolatedUntil[person] = max(isolatedUntil[person] ?? 0, end)
  }
}
