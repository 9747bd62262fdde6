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

  private func run(_ scenario: Scenario, days: Int, seed: UInt64 = 1) -> Spread {
    let contacts = Ring()
    let rate = Epidemic.calibratedRate(of: contacts, disease: scenario.disease)
    var spread = Spread(scenario, contacts: contacts, rate: rate, seed: seed)
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
    let numbers = try (UInt64(1)...6).map { seed in
      let spread = run(scenario { $0.disease.reproductionNumber = 2 }, days: 15, seed: seed)
      return try #require(spread.epidemic.reproductionNumber(ofDays: 0..<1))
    }
    let mean = numbers.reduce(0, +) / 6
    #expect((1.6...2.3).contains(mean), "\(numbers)")
  }

  @Test("A disease with the number 0 infects nobody, and a seed determines a run")
  func seeds() {
    let none = run(scenario { $0.disease.reproductionNumber = 0 }, days: 15)
    #expect(none.epidemic.courses.count == 40)
    #expect(run(scenario(), days: 8).epidemic.courses == run(scenario(), days: 8).epidemic.courses)
    let other = run(scenario(), days: 8, seed: 2)
    #expect(run(scenario(), days: 8).epidemic.courses != other.epidemic.courses)
  }

  @Test("People who isolate after symptoms infect fewer")
  func isolation() {
    func infected(isolating share: Double) -> Int {
      run(
        scenario {
          $0.disease.symptomaticShare = 1
          $0.disease.incubationDays = 3
          $0.behaviour.isolatesAfterSymptoms = share
          $0.behaviour.testDays = 10
          $0.behaviour.otherSymptoms = 0
        }, days: 20
      ).epidemic.courses.count
    }
    let (free, isolated) = (infected(isolating: 0), infected(isolating: 1))
    #expect(isolated < free / 2, "\(isolated) and \(free)")
  }

  @Test("An alert is true after 15 minutes within 2 m of an infectious person who has uploaded")
  func alerts() throws {
    var spread = run(scenario { $0.disease.reproductionNumber = 0 }, days: 4)
    let source = try #require(spread.epidemic.courses.keys.min())
    let met = (source + 4) % 2_000
    let now = 4 * 86_400
    #expect(spread.exposures.alertDue(met, at: now) == nil)
    spread.note(uploadOf: source, at: now)
    #expect(spread.exposures.alertDue(met, at: now) == now)
    #expect(spread.exposures.alertDue(met, at: now - 1) == nil)
    #expect(spread.exposures.alertDue((source + 1_000) % 2_000, at: now) == nil)
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
