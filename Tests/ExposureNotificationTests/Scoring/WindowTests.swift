// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

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
    let key = try key ?? BeaconSender().key
    return try WindowRules(configuration).windows(of: KeyMatch(key: key, sightings: sightings))
  }

  @Test(
    "A window ends 30 minutes after its first sighting", arguments: [(1_799.0, 1), (1_800, 2)])
  func length(seconds: TimeInterval, count: Int) throws {
    #expect(try windows([.at(0), .at(seconds)]).count == count)
  }

  @Test("Sightings within 25.5 seconds are one scan instance", arguments: [(25.5, 1), (26.0, 2)])
  func scans(seconds: TimeInterval, count: Int) throws {
    #expect(try windows([.at(0), .at(seconds)]).first?.scanInstances.count == count)
  }

  @Test("A scan instance has the minimum and the rounded mean attenuation")
  func attenuations() throws {
    let sightings: [MatchedSighting] = [
      try .at(0, attenuation: 50), try .at(2, attenuation: 55), try .at(4, attenuation: 40),
      try .at(6, attenuation: 53),
    ]
    let scan = try #require(try windows(sightings).first?.scanInstances.first)
    #expect(scan.minimumAttenuation == 40)
    #expect(scan.typicalAttenuation == 50)
  }

  @Test(
    "Copies that are weaker than fading explains do not change the mean",
    arguments: [(75, 58), (76, 50)])
  func weakCopies(attenuation: Int, typical: UInt8) throws {
    let scan = try #require(
      try windows([
        .at(0, attenuation: 50), .at(1, attenuation: 50), .at(2, attenuation: attenuation),
      ])
      .first?.scanInstances.first)
    #expect(scan.minimumAttenuation == 50)
    #expect(scan.typicalAttenuation == typical)
  }

  @Test("Seconds since the last scan are whole minutes up to five, or two minutes if unknown")
  func sinceLastScan() throws {
    let start = BeaconSender.midnight.date
    for (gap, seconds) in [(1.0, 60), (60, 60), (61, 120), (300, 300), (9_000, 300), (-60, 0)] {
      let sighting = try MatchedSighting.at(
        9_000, previousScan: start.addingTimeInterval(9_000 - gap))
      #expect(try windows([sighting]).first?.scanInstances.first?.secondsSinceLastScan == seconds)
    }
    let sameMinute = try MatchedSighting.at(59, previousScan: start)
    #expect(try windows([sameMinute]).first?.scanInstances.first?.secondsSinceLastScan == 0)
    #expect(try windows([.at(0)]).first?.scanInstances.first?.secondsSinceLastScan == 120)
  }

  @Test("The previous scan may be empty, and the beacons of a scan belong to it")
  func emptyScans() throws {
    let sender = try BeaconSender()
    let start = BeaconSender.midnight.date
    let sightings = [0, 2, 14, 302, 317].map { sender.sighting(after: $0) }
    let scanTimes = [-120, -60, 0, 60, 240, 300, 360].map { start.addingTimeInterval($0) }
    #expect(
      ScannedSighting.inOrder(sightings, scanTimes: scanTimes.reversed()).map(\.previousScan)
        == [-60, -60, -60, 240, 240].map { start.addingTimeInterval($0) })
  }

  @Test("Without the times of scans, the previous scan is the last one with a sighting")
  func previousScan() throws {
    let (one, other) = (try BeaconSender(1), try BeaconSender(2))
    let sightings = [
      one.sighting(after: 0), other.sighting(after: 3), other.sighting(after: 240),
      one.sighting(after: 242),
    ]
    let start = BeaconSender.midnight.date
    #expect(
      ScannedSighting.inOrder(sightings.reversed()).map(\.previousScan) == [nil, nil, start, start])
  }

  @Test("A window has day, report type, infectiousness and calibration confidence")
  func facts() throws {
    let medium = try required(BluetoothMetadata(bytes: [0x58, 0, 0, 0]))
    let key = try BeaconSender(reportType: .selfReport, daysSinceOnset: 1).key
    let window = try #require(
      try windows([.at(50_000, metadata: medium), .at(50_300)], key: key).first)
    #expect(window.date == BeaconSender.midnight.date)
    #expect(window.diagnosisReportType == .selfReported)
    #expect(window.infectiousness == .high)
    #expect(window.calibrationConfidence == .medium)
    #expect(try windows([.at(0)]).first?.calibrationConfidence == .low)
    let apple = ENExposureWindow(window)
    #expect(apple.scanInstances.count == 2)
    #expect(apple.variantOfConcernType == .typeUnknown)
  }

  @Test("A key with infectiousness none or on an unlisted day has no window")
  func notInfectious() throws {
    for day: Int32 in [2, 3, -14] {
      #expect(try windows([.at(0)], key: BeaconSender(daysSinceOnset: day).key).isEmpty)
    }
    for day: Int32? in [nil, 15, -15] {
      let key = try BeaconSender(daysSinceOnset: day).key
      #expect(try windows([.at(0)], key: key).first?.infectiousness == .standard)
    }
  }

  @Test("A key without a report type gets the configured one, or has no window")
  func unstatedReport() throws {
    for unstated in [nil, ReportType.unknown] {
      let key = try BeaconSender(reportType: unstated).key
      #expect(try windows([.at(0)], key: key).first?.diagnosisReportType == .confirmedTest)
      let none = try windows([.at(0)], key: key) { $0.reportTypeNoneMap = .unknown }
      #expect(none.isEmpty)
    }
  }

  @Test("Windows are sorted by content alone")
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
    let key = try BeaconSender(daysSinceOnset: daysSinceOnset).key
    return try WindowRules(configuration).windows(of: KeyMatch(key: key, sightings: [.at(0)]))
      .first?.infectiousness
  }

  @Test("Apple's example map gives the documented infectiousness per day")
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

  @Test("The default map of EN Express gives the documented infectiousness per day")
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
