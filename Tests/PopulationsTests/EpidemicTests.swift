// SPDX-License-Identifier: Apache-2.0
import Foundation
import Populations
import Testing

@Suite("Spread of an infection") struct EpidemicTests {
  /// Every day, each person meets the next ten for an hour at 1 m.
  private struct Ring: ContactSource {
    let population = Population(count: 2_000)

    func encounters(onDay day: Int) -> [Encounter] {
      (0..<2_000).flatMap { one in
        (1...10).map { step in
          Encounter(
            one, (one + step * (day + 1)) % 2_000, from: 36_000, to: 39_600, metres: 1,
            at: .leisure)
        }
      }
    }
  }

  private func scenario(_ change: (inout Scenario) -> Void = { _ in }) -> Scenario {
    var scenario = Scenario()
    scenario.firstCases = 40
    scenario.disease.infectiousnessDeviation = 0
    scenario.disease.symptomaticShare = 0
    scenario.disease.asymptomaticFactor = 1
    change(&scenario)
    return scenario
  }

  private func run(_ scenario: Scenario, days: Int) throws -> Spread {
    try runs(scenario, days: days, seeds: [1])[0]
  }

  /// A run for each seed. They have one rate, because its calibration takes longer than a run.
  private func runs(_ scenario: Scenario, days: Int, seeds: [UInt64]) throws -> [Spread] {
    let rate = try Epidemic.calibratedRate(of: Ring(), disease: scenario.disease)
    return seeds.map { run(scenario, rate: rate, days: days, seed: $0) }
  }

  private func run(_ scenario: Scenario, rate: Double, days: Int, seed: UInt64) -> Spread {
    var spread = Spread(scenario, contacts: Ring(), rate: rate, seed: seed)
    for _ in 0..<days {
      spread.beginDay()
      for hour in 0..<24 {
        _ = spread.pass(hour: hour)
        _ = spread.takeEvents(until: spread.day * 86_400 + (hour + 1) * 3_600)
      }
    }
    return spread
  }

  @Test("The first cases infect as many people as the disease states")
  func reproduction() throws {
    let spreads = try runs(
      scenario { $0.disease.reproductionNumber = 2 }, days: 15, seeds: Array(1...6))
    let numbers = try spreads.map { try #require($0.epidemic.reproductionNumber(ofDays: 0..<1)) }
    let mean = numbers.reduce(0, +) / 6
    #expect((1.6...2.3).contains(mean), "\(numbers)")
  }

  @Test("A disease with the number 0 infects nobody, and a seed determines a run")
  func seeds() throws {
    let none = try run(scenario { $0.disease.reproductionNumber = 0 }, days: 15)
    #expect(none.epidemic.courses.count == 40)
    let courses = try runs(scenario(), days: 8, seeds: [1, 1, 2]).map(\.epidemic.courses)
    #expect(courses[1] == courses[0])
    #expect(courses[2] != courses[0])
  }

  @Test("People who isolate after symptoms infect fewer")
  func isolation() throws {
    func infected(isolating share: Double) throws -> Int {
      try run(
        scenario {
          $0.disease.symptomaticShare = 1
          $0.disease.incubationDays = 3
          $0.behaviour.isolatesAfterSymptoms = share
          $0.behaviour.testDays = 10
          $0.behaviour.otherSymptoms = 0
        }, days: 20
      ).epidemic.courses.count
    }
    let (free, isolated) = (try infected(isolating: 0), try infected(isolating: 1))
    #expect(isolated < free / 2, "\(isolated) and \(free)")
  }

  @Test("An alert is true after 15 minutes within 2 m of an infectious person who has uploaded")
  func alerts() throws {
    var spread = try run(scenario { $0.disease.reproductionNumber = 0 }, days: 4)
    let source = try #require(spread.epidemic.courses.keys.min())
    let met = (source + 4) % 2_000
    let now = 4 * 86_400
    #expect(!spread.exposures.isAlertTrue(met, at: now))
    spread.note(uploadOf: source, at: now)
    #expect(spread.exposures.isAlertTrue(met, at: now))
    #expect(!spread.exposures.isAlertTrue(met, at: now - 1))
    #expect(!spread.exposures.isAlertTrue((source + 1_000) % 2_000, at: now))
  }

  /// Everybody meets one other person every day, for the stated minutes in two encounters.
  private struct Pairs: ContactSource {
    let population = Population(count: 2_000)
    var isSecondReversed = false

    func encounters(onDay day: Int) -> [Encounter] {
      stride(from: 0, to: 2_000, by: 2).flatMap { one in
        [
          Encounter(one, one + 1, from: 36_000, to: 37_800, metres: 1, at: .home),
          Encounter(
            isSecondReversed ? one + 1 : one, isSecondReversed ? one : one + 1, from: 40_000,
            to: 41_800, metres: 1, at: .home),
        ]
      }
    }
  }

  @Test("Two people are one pair in whichever order an encounter names them")
  func orderOfAPair() throws {
    var disease = Disease()
    disease.reproductionNumber = 0.5
    let rate = try Epidemic.calibratedRate(of: Pairs(), disease: disease)
    #expect(
      try Epidemic.calibratedRate(of: Pairs(isSecondReversed: true), disease: disease) == rate)
  }

  @Test("The number is reached also if people differ in their infectiousness and meet few others")
  func fewContacts() throws {
    var disease = Disease()
    disease.reproductionNumber = 0.5
    let rate = try Epidemic.calibratedRate(of: Pairs(), disease: disease)
    let numbers = try (UInt64(1)...10).map { seed in
      var epidemic = Epidemic(
        people: 2_000, firstCases: 100, disease: disease, rate: rate, seed: seed)
      for day in 0..<15 { epidemic.pass(Pairs().encounters(onDay: day), onDay: day) }
      return try #require(epidemic.reproductionNumber(ofDays: 0..<1))
    }
    // Of 100 partners, about 5 are first cases too.
    let mean = numbers.reduce(0, +) / 10
    #expect((0.43...0.52).contains(mean), "\(numbers)")
  }

  @Test("A number that the contacts cannot reach is refused, the largest below it is not")
  func unreachable() throws {
    var disease = Disease()
    disease.infectiousnessDeviation = 0
    disease.reproductionNumber = 0.99
    #expect(try Epidemic.calibratedRate(of: Pairs(), disease: disease) > 0)
    disease.reproductionNumber = 1.01
    let error = try #require(throws: UnreachableReproductionNumber.self) {
      try Epidemic.calibratedRate(of: Pairs(), disease: disease)
    }
    #expect(error.partners == 1)
    #expect(ScenarioError(error).path == "disease.reproductionNumber")
    #expect(ScenarioError(error).need.contains("a person meets 1.00 others in two weeks"))
  }

  @Test("A short generation time has a rate, and the longest one too", arguments: [1.0, 14])
  func narrowGenerations(days: Double) throws {
    var disease = Disease()
    disease.generationDays = days
    disease.generationDeviation = 0.5
    disease.reproductionNumber = 0.5
    #expect(try Epidemic.calibratedRate(of: Pairs(), disease: disease).isNormal)
  }

  @Test("Days after which infectiousness has ended are needed for a reproduction number")
  func cohort() {
    #expect(Spread.cohort(days: 15) == nil)
    #expect(Spread.cohort(days: 16) == 0..<1)
    #expect(Spread.cohort(days: 28) == 0..<13)
  }

  @Test("An alert is overdue three days after the upload, for contacts of two weeks before it")
  func overdue() throws {
    var spread = try run(scenario { $0.disease.reproductionNumber = 0 }, days: 15)
    let source = try #require(spread.epidemic.courses.keys.min())
    // Their only contact while the source was infectious was on day 1, fourteen days before the upload.
    let met = (source + 2) % 2_000
    let upload = 15 * 86_400
    spread.note(uploadOf: source, at: upload)
    for _ in 0..<3 { spread.beginDay() }
    #expect(!spread.exposures.isAlertOverdue(met, at: upload + 3 * 86_400 - 1))
    #expect(spread.exposures.isAlertOverdue(met, at: upload + 3 * 86_400))
    #expect(!spread.exposures.isAlertTrue(met, at: upload + 3 * 86_400))
    #expect(!spread.exposures.isAlertOverdue((source + 1_000) % 2_000, at: upload + 3 * 86_400))
  }

  @Test("The result of a test comes so long after the symptoms as the scenario says, also hours")
  func testDays() {
    func results(after days: Double) -> [Int] {
      var behaviour = Behaviour()
      behaviour.testDays = days
      behaviour.testsAfterSymptoms = 1
      behaviour.otherSymptoms = 1
      behaviour.specificity = 0
      var health = HealthCare(behaviour, seed: 1)
      health.addOtherSymptoms(people: 1, onDay: 0)
      let epidemic = Epidemic(people: 1, firstCases: 0, disease: Disease(), rate: 0, seed: 1)
      return health.takeEvents(until: 10 * 86_400, epidemic: epidemic)
        .filter { $0.event == .result(isPositive: true) }.map(\.second)
    }
    #expect(results(after: 0) == [43_200])
    #expect(results(after: 0.25) == [64_800])
    #expect(results(after: 2) == [216_000])
  }

  @Test("A test is taken a day after symptoms at the latest, and before its result")
  func takenBefore() throws {
    // Infected 6 hours after the symptoms of another cause: a rapid test of 3 hours is too early, one of 12 is not.
    func isPositive(after hours: Double) throws -> Bool {
      var behaviour = Behaviour()
      behaviour.testDays = hours / 24
      behaviour.testsAfterSymptoms = 1
      behaviour.otherSymptoms = 1
      behaviour.sensitivity = 1
      behaviour.specificity = 1
      var disease = Disease()
      disease.symptomaticShare = 0
      disease.infectiousnessDeviation = 0
      var health = HealthCare(behaviour, seed: 1)
      health.addOtherSymptoms(people: 2, onDay: 1)
      var epidemic = Epidemic(people: 2, firstCases: 1, disease: disease, rate: 1e6, seed: 1)
      let source = try #require(epidemic.courses.keys.first)
      epidemic.pass(
        [Encounter(0, 1, from: 64_000, to: 64_800, metres: 1, at: .home)], onDay: 1)
      let events = health.takeEvents(until: 10 * 86_400, epidemic: epidemic)
      return events.contains { $0.person != source && $0.event == .result(isPositive: true) }
    }
    #expect(try !isPositive(after: 3))
    #expect(try isPositive(after: 12))
  }
}

@Suite("Attenuation") struct PathLossTests {
  @Test("The means are those of the measurement")
  func means() {
    let loss = PathLoss.measured
    #expect(abs(loss.mean(metres: 1) - 54.5) < 0.01)
    #expect(abs(loss.mean(metres: 10) - 66.8) < 0.01)
  }

  @Test("Readings spread about the mean, and nothing is received beyond the range")
  func readings() throws {
    let loss = PathLoss(
      oneMetreDecibels: 45, decadeDecibels: 24, pairDecibels: 0, readingDecibels: 1.5,
      floorDecibels: -100)
    var generator = StreamGenerator(seed: 1)
    let near = (0..<1_000).compactMap { _ in
      loss.strength(sent: -15, metres: 1, shift: 0, &generator)
    }
    #expect(near.count == 1_000 && Set(near).isSubset(of: -63 ... -57))
    let mean = Double(near.reduce(0) { $0 + Int($1) }) / 1_000
    #expect(abs(mean + 60) < 0.3)
    let range = loss.range(sent: -15)
    #expect(loss.strength(sent: -15, metres: range + 0.1, shift: 0, &generator) == nil)
  }
}
