// SPDX-License-Identifier: Apache-2.0
import Foundation
import RiskRules
import Testing

@Suite("Window risk policy")
struct WindowRiskPolicyTests {
  private func range(_ min: Double, _ max: Double, open: Bool = false) -> PolicyRange {
    PolicyRange(min: min, max: max, maxExclusive: open)
  }

  /// Minutes below 60 dB have weight 1; 5 are a low, 15 a high risk. A test at high infectiousness is 8.
  private func policy(_ change: (inout WindowRiskPolicy) -> Void = { _ in }) -> WindowRiskPolicy {
    let levels: [WindowRiskPolicy.LevelMapping] = [
      .init(normalizedTimeRange: range(5, 15, open: true), riskLevel: .low),
      .init(normalizedTimeRange: range(15, 9999), riskLevel: .high),
    ]
    var policy = WindowRiskPolicy(
      minutesAtAttenuationWeights: [.init(attenuationRange: range(0, 60, open: true), weight: 1)],
      normalizedTimePerEWToRiskLevelMapping: levels,
      normalizedTimePerDayToRiskLevelMapping: levels,
      trlEncoding: TransmissionRiskEncoding(
        infectiousnessOffsetStandard: 1, infectiousnessOffsetHigh: 2,
        reportTypeOffsetRecursive: 0, reportTypeOffsetSelfReport: 2,
        reportTypeOffsetConfirmedClinicalDiagnosis: 4, reportTypeOffsetConfirmedTest: 6),
      transmissionRiskValueMapping: [.init(transmissionRiskLevel: 8, transmissionRiskValue: 1)])
    change(&policy)
    return policy
  }

  @Test("Both ends of a range are included unless marked as exclusive")
  func ends() {
    let open = PolicyRange(min: 1, max: 2, minExclusive: true, maxExclusive: true)
    #expect([1, 1.5, 2].map(open.contains) == [false, true, false])
    #expect([0.9, 1, 2, 2.1].map(range(1, 2).contains) == [false, true, true, false])
  }

  @Test("Minutes are weighted by the first range of the minimum attenuation and by the level")
  func minutes() {
    let policy = policy {
      $0.minutesAtAttenuationWeights = [
        .init(attenuationRange: range(0, 55, open: true), weight: 1),
        .init(attenuationRange: range(0, 63, open: true), weight: 0.5),
      ]
      $0.transmissionRiskValueMapping = [
        .init(transmissionRiskLevel: 8, transmissionRiskValue: 1.6)
      ]
    }
    let scans: [RiskScan] = [(54, 300), (55, 300), (62, 300), (63, 300), (10, -300)].map {
      RiskScan(minimumAttenuation: $0.0, seconds: $0.1)
    }
    #expect(policy.normalizedMinutes(of: scans, transmissionRiskLevel: 8) == 16)
    #expect(policy.normalizedMinutes(of: scans, transmissionRiskLevel: 7) == 0)
  }

  @Test(
    "A filter drops windows by their minutes within a range, and by their level",
    arguments: [(599, 8, nil), (600, 8, 10.0), (600, 2, nil)])
  func filters(seconds: Int, level: Int, minutes: Double?) {
    let policy = policy {
      $0.minutesAtAttenuationFilters = [
        .init(
          attenuationRange: range(0, 73, open: true), dropIfMinutesInRange: range(0, 10, open: true)
        )
      ]
      $0.trlFilters = [.init(dropIfTrlInRange: range(1, 2))]
    }
    let scans = [RiskScan(minimumAttenuation: 59, seconds: seconds)]
    #expect(policy.normalizedMinutes(of: scans, transmissionRiskLevel: level) == minutes)
  }

  @Test("The sum of a day does not depend on the order, and meets the end of a range exactly")
  func day() {
    let windows = (1...50).map { Double($0) * 0.1 }
    #expect(policy().normalizedMinutes(ofDay: windows) == 127.5)
    #expect(policy().normalizedMinutes(ofDay: windows.reversed()) == 127.5)
    #expect(policy().dayLevel(ofMinutes: 4.9) == nil)
    #expect(policy().dayLevel(ofMinutes: 5) == .low)
    #expect(policy().windowLevel(ofMinutes: 15) == .high)
  }

  @Test(
    "The level of a window is the sum of two offsets; without one of them there is none",
    arguments: [
      (1, 1, 7), (2, 1, 8), (1, 2, 5), (2, 3, 4), (1, 4, 1), (0, 1, nil), (2, 0, nil), (2, 5, nil),
      (3, 1, nil),
    ])
  func levels(infectiousness: UInt32, reportType: UInt32, level: Int?) {
    let encoding = policy().trlEncoding
    #expect(encoding.level(infectiousness: infectiousness, reportType: reportType) == level)
  }

  @Test("A policy survives JSON coding, and exclusive ends are optional")
  func json() throws {
    let policy = policy { $0.trlFilters = [.init(dropIfTrlInRange: range(1, 2))] }
    let data = try JSONEncoder().encode(policy)
    #expect(try JSONDecoder().decode(WindowRiskPolicy.self, from: data) == policy)
    let closed = try JSONDecoder().decode(PolicyRange.self, from: Data(#"{"min":1,"max":2}"#.utf8))
    #expect(closed.contains(1) && closed.contains(2) && !closed.contains(2.1))
  }

  @Test("An invalid field is named at the beginning of the message")
  func faults() {
    #expect(policy().validationError == nil)
    let faults: [(String, (inout WindowRiskPolicy) -> Void)] = [
      (
        "minutesAtAttenuationWeights[0].weight ",
        { $0.minutesAtAttenuationWeights[0].weight = -0.1 }
      ),
      (
        "minutesAtAttenuationWeights[0].attenuationRange ",
        { $0.minutesAtAttenuationWeights[0].attenuationRange.max = -1 }
      ),
      (
        "normalizedTimePerEWToRiskLevelMapping[1].normalizedTimeRange ",
        { $0.normalizedTimePerEWToRiskLevelMapping[1].normalizedTimeRange.min = 10_000 }
      ),
      (
        "normalizedTimePerDayToRiskLevelMapping[0].normalizedTimeRange ",
        { $0.normalizedTimePerDayToRiskLevelMapping[0].normalizedTimeRange.max = .nan }
      ),
      (
        "transmissionRiskValueMapping[0].transmissionRiskValue ",
        { $0.transmissionRiskValueMapping[0].transmissionRiskValue = 101 }
      ),
      (
        "transmissionRiskValueMapping names ",
        { $0.transmissionRiskValueMapping += $0.transmissionRiskValueMapping }
      ),
      ("trlEncoding.infectiousnessOffsetHigh ", { $0.trlEncoding.infectiousnessOffsetHigh = -1 }),
      (
        "trlFilters[0].dropIfTrlInRange ",
        { $0.trlFilters = [.init(dropIfTrlInRange: PolicyRange(min: 2, max: 1))] }
      ),
    ]
    for (field, change) in faults {
      let fault = policy(change).validationError
      #expect(fault?.hasPrefix(field) == true, "\(field): \(fault ?? "taken")")
    }
  }

  @Test("A list may have 100 entries", arguments: [(99, true), (100, true), (101, false)])
  func limit(count: Int, isTaken: Bool) {
    let policy = policy {
      $0.minutesAtAttenuationWeights = (0..<count).map {
        .init(attenuationRange: range(Double($0), Double($0) + 1), weight: 1)
      }
    }
    #expect((policy.validationError == nil) == isTaken)
  }
}
