import ExposureKeys
import Foundation
import TestSupport

@testable import ExposureNotification

/// Random configurations and exposures, the same for the same seed.
struct RandomWindows {
  static let day = Date(timeIntervalSince1970: 1_585_785_600)

  var dice: SeededGenerator

  init(seed: Int) {
    dice = SeededGenerator(seed: UInt64(seed))
  }

  /// A configuration with every field of version 2 within its bounds.
  mutating func configuration() -> ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    let weights: [ReferenceWritableKeyPath<ENExposureConfiguration, Double>] = [
      \.immediateDurationWeight, \.nearDurationWeight, \.mediumDurationWeight,
      \.otherDurationWeight, \.infectiousnessStandardWeight, \.infectiousnessHighWeight,
      \.reportTypeConfirmedTestWeight, \.reportTypeConfirmedClinicalDiagnosisWeight,
      \.reportTypeSelfReportedWeight, \.reportTypeRecursiveWeight,
    ]
    for weight in weights {
      configuration[keyPath: weight] = Double(Int.random(in: 0...250, &dice))
    }
    let thresholds = (0..<3).map { _ in Int.random(in: 0...255, &dice) }.sorted()
    configuration.attenuationDurationThresholds = thresholds.map(NSNumber.init(value:))
    return configuration
  }

  /// A window of one to ten scans on one of three days.
  mutating func window() -> ExposureWindow {
    var window = ExposureWindow()
    window.date = Self.day.addingTimeInterval(Double(Int.random(in: 0...2, &dice)) * 86_400)
    window.infectiousness = [.standard, .high][Int.random(in: 0...1, &dice)]
    window.diagnosisReportType =
      [.confirmedTest, .confirmedClinicalDiagnosis, .selfReported, .recursive][
        Int.random(in: 0...3, &dice)]
    window.scanInstances = (0...Int.random(in: 0...9, &dice)).map { _ in scan() }
    return window
  }

  mutating func scan() -> ScanInstance {
    let attenuation = UInt8(Int.random(in: 0...255, &dice))
    return ScanInstance(
      minimumAttenuation: attenuation, typicalAttenuation: attenuation,
      secondsSinceLastScan: Int.random(in: 0...5, &dice) * 60)
  }

  mutating func windows() -> [ExposureWindow] {
    (0..<Int.random(in: 1...12, &dice)).map { _ in window() }
  }

  /// Eight values from 0 to 8.
  mutating func table() -> [Int] { (0..<8).map { _ in Int.random(in: 0...8, &dice) } }

  mutating func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, &dice) }
}

extension Int {
  fileprivate static func random(in range: ClosedRange<Int>, _ dice: inout SeededGenerator) -> Int {
    random(in: range, using: &dice)
  }
}
