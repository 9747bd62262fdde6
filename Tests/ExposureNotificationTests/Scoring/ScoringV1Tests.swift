// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

struct ScoringV1Tests {
  /// Whole days after the key's start, at noon.
  private func days(_ count: Int) -> Date {
    BeaconSender.midnight.date.addingTimeInterval(Double(count) * 86_400 + 43_200)
  }

  private func result(
    _ configuration: ENExposureConfiguration, _ users: [(BeaconSender, [Sighting])], after: Int = 1
  ) throws -> DetectionResult {
    var ledger = LedgerSearch(Matcher(users.flatMap(\.1)))
    ledger.search(users.map(\.0.key))
    return try ExposureScoringV1(configuration).result(of: ledger.matches, now: days(after))
  }

  @Test("ProteGO Safe's configuration gives every cell of its score table")
  func protegoTable() throws {
    let scoring = try ExposureScoringV1(.protego)
    let expected: [(decibels: [UInt8], row: [Int])] = [
      ([74, 255], [0, 640, 768, 896, 1024]),
      ([64, 73], [0, 1600, 1920, 2240, 2560]),
      ([52, 63], [0, 1920, 2304, 2688, 3072]),
      ([34, 51], [0, 2240, 2688, 3136, 3584]),
      ([0, 33], [0, 2560, 3072, 3584, 4096]),
    ]
    for (decibels, row) in expected {
      for attenuation in decibels.map(Attenuation.init(decibels:)) {
        for (minutes, full) in zip([[0], [1, 5], [6, 10], [11, 15], [16, 20, 31]], row) {
          for minute in minutes {
            for level in [UInt8(0), 7, 8] {
              let recent = scoring.score(
                attenuation: attenuation, minutes: minute, daysAgo: 13,
                transmissionRiskLevel: level)
              let old = scoring.score(
                attenuation: attenuation, minutes: minute, daysAgo: 14,
                transmissionRiskLevel: level)
              #expect(recent.fullRange == full)
              #expect(old.fullRange == full * 7 / 8)
            }
          }
        }
      }
    }
  }

  @Test("With ProteGO Safe's configuration, 15 minutes at 50 dB score 3,136")
  func protegoExposure() throws {
    let user = try BeaconSender(risk: 8)
    let result = try result(.protego, [(user, user.stay(scans: 3, attenuation: 50))])
    let info = try #require(result.infos.first)
    #expect(info.totalRiskScoreFullRange == 3136)
    #expect(info.totalRiskScore == 255)
    #expect(info.metadata?["totalRiskScoreFullRange"] as? Int == 3136)
    #expect(info.duration == 900)
    #expect(info.attenuationValue == 50)
    #expect(info.attenuationDurations == [0, 900, 0])
    #expect(info.transmissionRiskLevel == 7)
    #expect(info.date == BeaconSender.midnight.date)
    #expect(info.daysSinceOnsetOfSymptoms == ENDaysSinceOnsetOfSymptomsUnknown)
    #expect(info.diagnosisReportType == .unknown)
  }

  @Test(
    "Weak copies and forged metadata of an identifier change neither score nor duration, on either of two days",
    arguments: [0, 144 as UInt32])
  func forgedCopies(intervals: UInt32) throws {
    let user = try BeaconSender(start: BeaconSender.midnight.rawValue + intervals, risk: 8)
    let stay = user.stay(scans: 5, attenuation: 30)
    let copies = stay.flatMap { sighting in
      (1...10).map {
        Sighting(
          advertisement: sighting.advertisement, time: sighting.time + Double($0),
          signalStrength: -100)
      }
    }
    let forged = (0..<5).map { (scan: Int) -> Sighting in
      user.sighting(
        step: UInt32(scan / 2), after: Double(scan % 2) * 300 + 1, attenuation: 30,
        metadata: BluetoothMetadata(transmitPower: 20))
    }
    for sightings in [stay, stay + copies, stay + forged, copies + forged + stay] {
      let other = try BeaconSender(2, risk: 8)
      let users = [(user, sightings), (other, other.stay(scans: 2, attenuation: 70))]
      let info = try #require(
        try result(.protego, users, after: 2).infos.max {
          $0.totalRiskScoreFullRange < $1.totalRiskScoreFullRange
        })
      #expect(info.totalRiskScoreFullRange == 4096)
      #expect(info.attenuationValue == 30)
      #expect(info.duration == 1_500)
    }
  }

  @Test("An identifier that a relay repeats for two hours counts for 20 minutes in both versions")
  func relayed() throws {
    let user = try BeaconSender(risk: 8)
    let relayed = stride(from: 0.0, through: 7_200, by: 240).map { user.sighting(after: $0) }
    let infos = try result(.protego, [(user, relayed)]).infos
    #expect(infos.map(\.duration) == [1_200])
    #expect(infos.map { $0.attenuationDurations.map(\.intValue).reduce(0, +) } == [1_200])
    var ledger = LedgerSearch(Matcher(relayed))
    ledger.search([user.key])
    let windows = ExposureWindow.windows(
      of: try #require(ledger.matches.first), infectiousness: .standard,
      diagnosisReportType: .confirmedTest)
    let seconds = windows.flatMap(\.scanInstances).map(\.secondsSinceLastScan)
    #expect(seconds.reduce(0, +) == 1_200)
  }

  @Test("Report type and days since onset of a key are reported to the app")
  func reportReachesTheApp() throws {
    let user = try BeaconSender(reportType: .selfReport, daysSinceOnset: -3)
    let result = try result(ENExposureConfiguration(), [(user, user.stay(scans: 1))])
    #expect(result.infos.first?.diagnosisReportType == .selfReported)
    #expect(result.infos.first?.daysSinceOnsetOfSymptoms == -3)
  }

  @Test("The summary has the key count, the highest score and the sums")
  func summary() throws {
    let near = try BeaconSender(1, risk: 7)
    let far = try BeaconSender(2, start: BeaconSender.midnight.rawValue - 144, risk: 1)
    let twice =
      far.stay(scans: 2, attenuation: 80) + far.stay(from: 7_200, scans: 1, attenuation: 40)
    let summary = try result(
      ENExposureConfiguration(), [(near, near.stay(scans: 3, attenuation: 60)), (far, twice)],
      after: 3
    ).summary
    // TRL value x duration value x days value x attenuation value.
    let scores = [8 * 4 * 7 * 3, 2 * 3 * 6 * 1, 2 * 2 * 6 * 4]
    #expect(summary.matchedKeyCount == 2)
    #expect(summary.daysSinceLastExposure == 3)
    #expect(summary.maximumRiskScoreFullRange == Double(scores[0]))
    #expect(summary.maximumRiskScore == 255)
    #expect(summary.riskScoreSumFullRange == Double(scores.reduce(0, +)))
    #expect(summary.attenuationDurations == [300, 900, 600, 0])
    #expect(summary.metadata?["maximumRiskScoreFullRange"] as? Int == scores[0])
    #expect(summary.metadata?["riskScoreSumFullRange"] as? Int == scores.reduce(0, +))
    #expect(summary.daySummaries.isEmpty)
  }

  @Test("Apple's example, 14 minutes at 68 dB four days ago, is capped at 255")
  func documentExample() throws {
    let score = try ExposureScoringV1(ENExposureConfiguration()).score(
      attenuation: Attenuation(decibels: 68), minutes: 14, daysAgo: 4, transmissionRiskLevel: 7)
    #expect(score.fullRange == 8 * 4 * 6 * 2)
    #expect(score.capped == 255)
  }

  @Test(
    "An exposure below the full-range minimum is not reported, but its key counts",
    arguments: [(671.0, true), (672, true), (673, false)])
  func minimumFullRange(minimum: Double, isReported: Bool) throws {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScoreFullRange = minimum
    let user = try BeaconSender(risk: 7)
    let stay = user.stay(scans: 3)
    let result = try result(configuration, [(user, stay)], after: 3)
    try expect(result, isReported: isReported, score: 672)
  }

  @Test(
    "An exposure below the capped minimum is not reported, but its key counts",
    arguments: [(UInt8(35), true), (36, true), (37, false)])
  func minimumCapped(minimum: UInt8, isReported: Bool) throws {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScore = minimum
    let user = try BeaconSender(risk: 0)
    let result = try result(
      configuration, [(user, user.stay(scans: 2, attenuation: 70))], after: 5)
    try expect(result, isReported: isReported, score: 36)
  }

  @Test("The minimum in the metadata takes precedence over the property")
  func minimumInMetadata() throws {
    let configuration = ENExposureConfiguration()
    configuration.metadata = ["minimumRiskScoreFullRange": 673]
    let user = try BeaconSender(risk: 7)
    try expect(
      try result(configuration, [(user, user.stay(scans: 3))], after: 3), isReported: false,
      score: 672)
  }

  @Test("Weights do not change the result")
  func weights() throws {
    let user = try BeaconSender(risk: 3)
    let stay = user.stay(scans: 4)
    let heavy = ENExposureConfiguration()
    heavy.attenuationWeight = 100
    heavy.durationWeight = 0
    heavy.daysSinceLastExposureWeight = 50
    heavy.transmissionRiskWeight = 7
    #expect(
      try result(heavy, [(user, stay)]) == result(ENExposureConfiguration(), [(user, stay)])
    )
  }

  @Test("Without matches the summary is zero")
  func nothing() throws {
    let summary = try result(ENExposureConfiguration(), []).summary
    #expect(summary.matchedKeyCount == 0)
    #expect(summary.attenuationDurations == [0, 0, 0, 0])
    #expect(summary.maximumRiskScoreFullRange == 0)
    #expect(summary.daysSinceLastExposure == 0)
  }

  @Test("With a clock before the key's day, days since exposure are 0")
  func clockBehind() throws {
    let user = try BeaconSender()
    let result = try result(
      ENExposureConfiguration(), [(user, user.stay(scans: 1))], after: -2)
    #expect(result.found.daysSinceLastExposure == 0)
  }

  private func expect(_ result: DetectionResult, isReported: Bool, score: Double) throws {
    let summary = result.summary
    #expect(summary.matchedKeyCount == 1)
    #expect(summary.daysSinceLastExposure > 0)
    #expect(result.infos.count == (isReported ? 1 : 0))
    #expect(summary.maximumRiskScoreFullRange == (isReported ? score : 0))
    #expect(summary.riskScoreSumFullRange == (isReported ? score : 0))
    #expect((summary.attenuationDurations.map(\.intValue).reduce(0, +) > 0) == isReported)
  }

  @Test("Six matched keys below the minimum count as keys without any seconds")
  func belowMinimum() throws {
    let users = try (1...6).map { try BeaconSender(UInt8($0), risk: 1) }
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScoreFullRange = 4096
    configuration.attenuationDurationThresholds = [50, 70]
    var ledger = LedgerSearch(Matcher(users.flatMap { $0.stay(scans: 2) }))
    ledger.search(users.map(\.key))
    let summary = try ExposureScoringV1(configuration)
      .result(of: ledger.matches, now: BeaconSender.midnight.date.addingTimeInterval(86_400))
      .summary
    #expect(summary.matchedKeyCount == 6)
    #expect(summary.attenuationDurations == [0, 0, 0])
    #expect(summary.daysSinceLastExposure == 1)
  }

  @Test("The attenuation table limits scores: with a maximum of 40 nothing scores more")
  func attenuationTableCounts() throws {
    let configuration = ENExposureConfiguration()
    configuration.transmissionRiskLevelValues = [1, 1, 1, 1, 1, 1, 1, 5]
    configuration.durationLevelValues = [0, 0, 0, 1, 1, 1, 1, 1]
    configuration.daysSinceLastExposureLevelValues = [8, 8, 8, 8, 8, 8, 8, 8]
    configuration.attenuationLevelValues = [0, 0, 1, 1, 1, 1, 1, 1]
    let scoring = try ExposureScoringV1(configuration)
    let scores = (0...255).map { decibels in
      scoring.score(
        attenuation: Attenuation(decibels: UInt8(decibels)), minutes: 15, daysAgo: 0,
        transmissionRiskLevel: 7
      ).fullRange
    }
    #expect(scores.max() == 40)
    #expect(scores[63] == 40 && scores[64] == 0)
  }
}

extension ENExposureConfiguration {
  /// The defaults of ProteGO Safe.
  static var protego: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScore = 1
    configuration.attenuationLevelValues = [2, 5, 6, 7, 8, 8, 8, 8]
    configuration.daysSinceLastExposureLevelValues = [7, 8, 8, 8, 8, 8, 8, 8]
    configuration.durationLevelValues = [0, 5, 6, 7, 8, 8, 8, 8]
    configuration.transmissionRiskLevelValues = [8, 8, 8, 8, 8, 8, 8, 8]
    configuration.attenuationWeight = 50
    configuration.daysSinceLastExposureWeight = 50
    configuration.durationWeight = 50
    configuration.transmissionRiskWeight = 50
    configuration.metadata = ["attenuationDurationThresholds": [48, 58]]
    return configuration
  }
}

struct RiskScoreLevelTests {
  @Test(
    "Attenuation levels have Apple's limits",
    arguments: zip([UInt8(73), 63, 51, 33, 27, 15, 10], 0..<7))
  func attenuation(edge: UInt8, level: Int) {
    #expect(RiskScoreLevel.of(attenuation: Attenuation(decibels: edge + 1)) == level)
    #expect(RiskScoreLevel.of(attenuation: Attenuation(decibels: edge)) == level + 1)
    #expect(RiskScoreLevel.of(attenuation: Attenuation(decibels: edge - 1)) == level + 1)
  }

  @Test(
    "Day levels have Apple's limits", arguments: zip([14, 12, 10, 8, 6, 4, 2], 0..<7))
  func days(edge: Int, level: Int) {
    #expect(RiskScoreLevel.of(days: edge + 1) == level)
    #expect(RiskScoreLevel.of(days: edge) == level)
    #expect(RiskScoreLevel.of(days: edge - 1) == level + 1)
  }

  @Test(
    "Duration levels have Apple's limits",
    arguments: zip([0, 5, 10, 15, 20, 25, 30], 0..<7))
  func minutes(edge: Int, level: Int) {
    #expect(RiskScoreLevel.of(minutes: edge - 1) == level)
    #expect(RiskScoreLevel.of(minutes: edge) == level)
    #expect(RiskScoreLevel.of(minutes: edge + 1) == level + 1)
  }

  @Test("A transmission risk level is its own table index, with 8 counted as 7")
  func transmissionRisk() {
    #expect(
      (0...8).map { RiskScoreLevel.of(transmissionRiskLevel: $0) } == [0, 1, 2, 3, 4, 5, 6, 7, 7])
  }

  @Test("The lowest and highest attenuation have a level", arguments: [UInt8.min, .max])
  func extremes(decibels: UInt8) {
    let level = RiskScoreLevel.of(attenuation: Attenuation(decibels: decibels))
    #expect(level == (decibels == 0 ? 7 : 0))
  }

  @Test(
    "An attenuation equal to a threshold belongs to the nearer range",
    arguments: [
      (UInt8(49), 0), (50, 0), (51, 1), (69, 1), (70, 1), (71, 2), (89, 2), (90, 2), (91, 3),
    ])
  func thresholds(decibels: UInt8, range: Int) {
    #expect(AttenuationRange.index(of: decibels, thresholds: [50, 70, 90]) == range)
  }
}
