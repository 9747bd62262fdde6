import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

/// Documentation/RiskScoring.md 4 and 5.
struct ScoringV1Tests {
  /// Whole days after the key's start, at noon.
  private func days(_ count: Int) -> Date {
    Stranger.midnight.date.addingTimeInterval(Double(count) * 86_400 + 43_200)
  }

  private func result(
    _ configuration: ENExposureConfiguration, _ strangers: [(Stranger, [Sighting])], after: Int = 1
  ) throws -> DetectionResult {
    var ledger = FilledLedger(Matcher(strangers.flatMap(\.1)))
    ledger.search(strangers.map(\.0.key))
    return try ExposureScoring(configuration).result(of: ledger.matches, now: days(after))
  }

  @Test("With ProteGO Safe's configuration every cell of its table comes out")
  func protegoTable() throws {
    let scoring = try ExposureScoring(.protego)
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

  @Test("A quarter of an hour at 50 dB is high risk to ProteGO Safe, from beacon to score")
  func protegoExposure() throws {
    let stranger = try Stranger(risk: 8)
    let result = try result(.protego, [(stranger, stranger.stay(scans: 3, attenuation: 50))])
    let info = try #require(result.infos.first)
    #expect(info.totalRiskScoreFullRange == 3136)
    #expect(info.totalRiskScore == 255)
    #expect(info.metadata?["totalRiskScoreFullRange"] as? Int == 3136)
    #expect(info.duration == 900)
    #expect(info.attenuationValue == 50)
    #expect(info.attenuationDurations == [0, 900, 0])
    #expect(info.transmissionRiskLevel == 7)
    #expect(info.date == Stranger.midnight.date)
    #expect(info.daysSinceOnsetOfSymptoms == ENDaysSinceOnsetOfSymptomsUnknown)
    #expect(info.diagnosisReportType == .unknown)
  }

  @Test("What a key says of its diagnosis reaches the app")
  func reportReachesTheApp() throws {
    let stranger = try Stranger(reportType: .selfReport, daysSinceOnset: -3)
    let result = try result(ENExposureConfiguration(), [(stranger, stranger.stay(scans: 1))])
    #expect(result.infos.first?.diagnosisReportType == .selfReported)
    #expect(result.infos.first?.daysSinceOnsetOfSymptoms == -3)
  }

  @Test("The summary adds up, counts keys and takes the highest")
  func summary() throws {
    let near = try Stranger(1, risk: 7)
    let far = try Stranger(2, start: Stranger.midnight.rawValue - 144, risk: 1)
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

  @Test("The documents' example, 14 minutes at 68 dB four days ago, is capped at 255")
  func documentExample() throws {
    let score = try ExposureScoring(ENExposureConfiguration()).score(
      attenuation: Attenuation(decibels: 68), minutes: 14, daysAgo: 4, transmissionRiskLevel: 7)
    #expect(score.fullRange == 8 * 4 * 6 * 2)
    #expect(score.capped == 255)
  }

  @Test(
    "What scores below the minimum is not told, but its key still counts",
    arguments: [(671.0, true), (672, true), (673, false)])
  func minimumFullRange(minimum: Double, isTold: Bool) throws {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScoreFullRange = minimum
    let stranger = try Stranger(risk: 7)
    let stay = stranger.stay(scans: 3)
    let result = try result(configuration, [(stranger, stay)], after: 3)
    try expect(result, isTold: isTold, score: 672)
  }

  @Test(
    "The minimum may also be given after capping",
    arguments: [(UInt8(35), true), (36, true), (37, false)])
  func minimumCapped(minimum: UInt8, isTold: Bool) throws {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScore = minimum
    let stranger = try Stranger(risk: 0)
    let result = try result(
      configuration, [(stranger, stranger.stay(scans: 2, attenuation: 70))], after: 5)
    try expect(result, isTold: isTold, score: 36)
  }

  @Test("The minimum in the metadata wins over the property")
  func minimumInMetadata() throws {
    let configuration = ENExposureConfiguration()
    configuration.metadata = ["minimumRiskScoreFullRange": 673]
    let stranger = try Stranger(risk: 7)
    try expect(
      try result(configuration, [(stranger, stranger.stay(scans: 3))], after: 3), isTold: false,
      score: 672)
  }

  @Test("Weights change nothing")
  func weights() throws {
    let stranger = try Stranger(risk: 3)
    let stay = stranger.stay(scans: 4)
    let heavy = ENExposureConfiguration()
    heavy.attenuationWeight = 100
    heavy.durationWeight = 0
    heavy.daysSinceLastExposureWeight = 50
    heavy.transmissionRiskWeight = 7
    #expect(
      try result(heavy, [(stranger, stay)]) == result(ENExposureConfiguration(), [(stranger, stay)])
    )
  }

  @Test("Nobody met is zero everywhere")
  func nothing() throws {
    let summary = try result(ENExposureConfiguration(), []).summary
    #expect(summary.matchedKeyCount == 0)
    #expect(summary.attenuationDurations == [0, 0, 0, 0])
    #expect(summary.maximumRiskScoreFullRange == 0)
    #expect(summary.daysSinceLastExposure == 0)
  }

  @Test("A phone whose clock stands before the key's day counts no negative days")
  func clockBehind() throws {
    let stranger = try Stranger()
    let result = try result(
      ENExposureConfiguration(), [(stranger, stranger.stay(scans: 1))], after: -2)
    #expect(result.found.daysSinceLastExposure == 0)
  }

  private func expect(_ result: DetectionResult, isTold: Bool, score: Double) throws {
    let summary = result.summary
    #expect(summary.matchedKeyCount == 1)
    #expect(summary.daysSinceLastExposure > 0)
    #expect(result.infos.count == (isTold ? 1 : 0))
    #expect(summary.maximumRiskScoreFullRange == (isTold ? score : 0))
    #expect(summary.riskScoreSumFullRange == (isTold ? score : 0))
    #expect((summary.attenuationDurations.map(\.intValue).reduce(0, +) > 0) == isTold)
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
