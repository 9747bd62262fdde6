import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

/// Examples that the makers of the interface and authorities published, and what users reported.
struct WorkedExampleTests {
  /// A map from ranges of days to infectiousness.
  private func map(_ ranges: [(ClosedRange<Int>, ENInfectiousness)]) -> [NSNumber: NSNumber] {
    ranges.reduce(into: [:]) { map, range in
      for day in range.0 { map[NSNumber(value: day)] = NSNumber(value: range.1.rawValue) }
    }
  }

  private func infectiousness(
    _ map: [NSNumber: NSNumber], daysSinceOnset: Int32?
  ) throws -> ENInfectiousness? {
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = map
    let key = try Stranger(daysSinceOnset: daysSinceOnset).key
    return try WindowRules(configuration).windows(of: KeyMatch(key: key, sightings: [.at(0)]))
      .first?.infectiousness
  }

  @Test("Apple's example map: nobody counts six days before the first symptoms, two before is high")
  func mapOfTheDocuments() throws {
    let map = map([
      (-14 ... -6, .none), (-5 ... -3, .standard), (-2...5, .high), (6...10, .standard),
      (11...14, .none),
    ])
    let expected: [(Int32, ENInfectiousness?)] = [
      (-14, nil), (-6, nil), (-5, .standard), (-3, .standard), (-2, .high), (5, .high),
      (6, .standard), (10, .standard), (11, nil), (14, nil),
    ]
    for (day, infectiousness) in expected {
      #expect(try self.infectiousness(map, daysSinceOnset: day) == infectiousness, "day \(day)")
    }
    #expect(try infectiousness(map, daysSinceOnset: nil) == nil)
  }

  @Test("The default map of EN Express, two bits a day, counts as its documents say")
  func mapOfExpress() throws {
    let bits: UInt64 = 0x0401_555A_A940_0000
    var map: [NSNumber: NSNumber] = [:]
    for (place, day) in (Array(-14...14) + [ENDaysSinceOnsetOfSymptomsUnknown]).enumerated() {
      map[NSNumber(value: day)] = NSNumber(value: UInt32(bits >> UInt64(2 * place) & 0b11))
    }
    let expected: [(Int32?, ENInfectiousness?)] = [
      (-14, nil), (-4, nil), (-3, .standard), (-2, .standard), (-1, .high), (3, .high),
      (4, .standard), (10, .standard), (11, nil), (14, nil), (nil, .standard),
    ]
    for (day, infectiousness) in expected {
      #expect(
        try self.infectiousness(map, daysSinceOnset: day) == infectiousness,
        "day \(day.map(String.init) ?? "unknown")")
    }
  }

  @Test("EN Express's weights: 30, 50 and 60 dB at 150, 100, 50 and 0 percent")
  func weightsOfExpress() throws {
    let configuration = ENExposureConfiguration()
    configuration.attenuationDurationThresholds = [30, 50, 60]
    configuration.immediateDurationWeight = 150
    configuration.mediumDurationWeight = 50
    configuration.otherDurationWeight = 0
    var window = ExposureWindow()
    window.infectiousness = .standard
    window.diagnosisReportType = .confirmedTest
    window.scanInstances = [UInt8(30), 31, 50, 51, 60, 61].map {
      ScanInstance(minimumAttenuation: $0, typicalAttenuation: $0, secondsSinceLastScan: 60)
    }
    #expect(
      try WindowScoring(configuration).score(of: window) == 90 + 60 + 60 + 30 + 30 + 0)
  }

  @Test("A phone that met six people below the minimum says six keys and no seconds")
  func matchedButSilent() throws {
    let strangers = try (1...6).map { try Stranger(UInt8($0), risk: 1) }
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScoreFullRange = 4096
    configuration.attenuationDurationThresholds = [50, 70]
    var ledger = FilledLedger(Matcher(strangers.flatMap { $0.stay(scans: 2) }))
    ledger.search(strangers.map(\.key))
    let summary = try ExposureScoring(configuration)
      .result(of: ledger.matches, now: Stranger.midnight.date.addingTimeInterval(86_400)).summary
    #expect(summary.matchedKeyCount == 6)
    #expect(summary.attenuationDurations == [0, 0, 0])
    #expect(summary.daysSinceLastExposure == 1)
  }

  @Test("The table of attenuation counts: where 40 is the maximum, nothing scores 140")
  func attenuationTableCounts() throws {
    let configuration = ENExposureConfiguration()
    configuration.transmissionRiskLevelValues = [1, 1, 1, 1, 1, 1, 1, 5]
    configuration.durationLevelValues = [0, 0, 0, 1, 1, 1, 1, 1]
    configuration.daysSinceLastExposureLevelValues = [8, 8, 8, 8, 8, 8, 8, 8]
    configuration.attenuationLevelValues = [0, 0, 1, 1, 1, 1, 1, 1]
    let scoring = try ExposureScoring(configuration)
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
