import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

/// Documentation/RiskScoring.md 7.
struct WindowTests {
  private func windows(
    _ sightings: [MatchedSighting], key: DiagnosisKey? = nil,
    _ change: (ENExposureConfiguration) -> Void = { _ in }
  ) throws -> [ExposureWindow] {
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [
      0: 1, 1: 2, 2: 0, NSNumber(value: ENDaysSinceOnsetOfSymptomsUnknown): 1,
    ]
    change(configuration)
    let key = try key ?? DiagnosedUser().key
    return try WindowRules(configuration).windows(of: KeyMatch(key: key, sightings: sightings))
  }

  @Test(
    "A window ends half an hour after its first sighting", arguments: [(1_799.0, 1), (1_800, 2)])
  func length(seconds: TimeInterval, count: Int) throws {
    #expect(try windows([.at(0), .at(seconds)]).count == count)
  }

  @Test("Sightings of one scan are one scan instance", arguments: [(25.5, 1), (26.0, 2)])
  func scans(seconds: TimeInterval, count: Int) throws {
    #expect(try windows([.at(0), .at(seconds)]).first?.scanInstances.count == count)
  }

  @Test("A scan says its least and its mean attenuation, rounded")
  func attenuations() throws {
    let sightings: [MatchedSighting] = [
      try .at(0, attenuation: 50), try .at(2, attenuation: 55), try .at(4, attenuation: 40),
      try .at(6, attenuation: 53),
    ]
    let scan = try #require(try windows(sightings).first?.scanInstances.first)
    #expect(scan.minimumAttenuation == 40)
    #expect(scan.typicalAttenuation == 50)
  }

  @Test("Seconds since the last scan are whole minutes up to five, or two where unknown")
  func sinceLastScan() throws {
    let start = DiagnosedUser.midnight.date
    for (gap, seconds) in [(1.0, 60), (60, 60), (61, 120), (300, 300), (9_000, 300), (-60, 0)] {
      let sighting = try MatchedSighting.at(
        9_000, previousScan: start.addingTimeInterval(9_000 - gap))
      #expect(try windows([sighting]).first?.scanInstances.first?.secondsSinceLastScan == seconds)
    }
    let sameMinute = try MatchedSighting.at(59, previousScan: start)
    #expect(try windows([sameMinute]).first?.scanInstances.first?.secondsSinceLastScan == 0)
    #expect(try windows([.at(0)]).first?.scanInstances.first?.secondsSinceLastScan == 120)
  }

  @Test("The scan before is the last one that heard anybody")
  func previousScan() throws {
    let (one, other) = (try DiagnosedUser(1), try DiagnosedUser(2))
    let sightings = [
      one.heard(after: 0), other.heard(after: 3), other.heard(after: 240), one.heard(after: 242),
    ]
    let start = DiagnosedUser.midnight.date
    #expect(
      ScannedSighting.inOrder(sightings.reversed()).map(\.previousScan) == [nil, nil, start, start])
  }

  @Test("A window tells the day, the report, the infectiousness and the calibration")
  func facts() throws {
    let medium = try required(BluetoothMetadata(bytes: [0x58, 0, 0, 0]))
    let key = try DiagnosedUser(reportType: .selfReport, daysSinceOnset: 1).key
    let window = try #require(
      try windows([.at(50_000, metadata: medium), .at(50_300)], key: key).first)
    #expect(window.date == DiagnosedUser.midnight.date)
    #expect(window.diagnosisReportType == .selfReported)
    #expect(window.infectiousness == .high)
    #expect(window.calibrationConfidence == .medium)
    #expect(try windows([.at(0)]).first?.calibrationConfidence == .low)
    let apple = ENExposureWindow(window)
    #expect(apple.scanInstances.count == 2)
    #expect(apple.variantOfConcernType == .typeUnknown)
  }

  @Test("Who was not infectious, or on an unlisted day, leaves no window")
  func notInfectious() throws {
    for day: Int32 in [2, 3, -14] {
      #expect(try windows([.at(0)], key: DiagnosedUser(daysSinceOnset: day).key).isEmpty)
    }
    for day: Int32? in [nil, 15, -15] {
      let key = try DiagnosedUser(daysSinceOnset: day).key
      #expect(try windows([.at(0)], key: key).first?.infectiousness == .standard)
    }
  }

  @Test("A key without a report counts as the map says, or not at all")
  func unstatedReport() throws {
    for unstated in [nil, ReportType.unknown] {
      let key = try DiagnosedUser(reportType: unstated).key
      #expect(try windows([.at(0)], key: key).first?.diagnosisReportType == .confirmedTest)
      let none = try windows([.at(0)], key: key) { $0.reportTypeNoneMap = .unknown }
      #expect(none.isEmpty)
    }
  }

  @Test("The order of windows says nothing about whose they are")
  func order() throws {
    let windows = try windows([.at(0), .at(3_000, attenuation: 40), .at(6_000, attenuation: 50)])
    let sorted = windows.sorted(by: ExposureWindow.byContent)
    #expect(sorted.map { $0.scanInstances[0].typicalAttenuation } == [40, 50, 60])
    #expect(windows.reversed().sorted(by: ExposureWindow.byContent) == sorted)
    let first = try #require(windows.first)
    let variants = [ENVariantOfConcernType.type2, .type1].map {
      var window = first
      window.variantOfConcernType = $0
      return window
    }
    let byVariant = variants.sorted(by: ExposureWindow.byContent)
    #expect(byVariant.map(\.variantOfConcernType) == [.type1, .type2])
  }

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
    let key = try DiagnosedUser(daysSinceOnset: daysSinceOnset).key
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
}
