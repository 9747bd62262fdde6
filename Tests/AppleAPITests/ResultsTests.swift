// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Testing

/// The result classes, each created without arguments.
struct ResultsTests {
  @Test("Properties of ENTemporaryExposureKey can be set")
  func key() {
    let key = ENTemporaryExposureKey()
    #expect(key.keyData.isEmpty && key.rollingStartNumber == 0)
    #expect(key.rollingPeriod == 144 && key.transmissionRiskLevel == 0)
    key.keyData = Data(count: 16)
    key.rollingPeriod = 72 as ENIntervalNumber
    key.rollingStartNumber = 2_642_976 as ENIntervalNumber
    key.transmissionRiskLevel = 7 as ENRiskLevel
    #expect(key.keyData.count == 16 && key.rollingPeriod == 72)
  }

  @Test("An empty ENExposureDetectionSummary has Apple's defaults")
  func summary() {
    let summary = ENExposureDetectionSummary()
    #expect(summary.attenuationDurations == [] as [NSNumber])
    #expect(summary.daysSinceLastExposure == 0 as Int)
    #expect(summary.matchedKeyCount == 0 as UInt64)
    #expect(summary.maximumRiskScore == 0 as ENRiskScore)
    #expect(summary.maximumRiskScoreFullRange == 0 as Double)
    #expect(summary.riskScoreSumFullRange == 0 as Double)
    #expect(summary.metadata?["maximumRiskScoreFullRange"] as? NSNumber == 0)
    #expect(summary.metadata?["riskScoreSumFullRange"] as? NSNumber == 0)
    #expect((summary.daySummaries as [ENExposureDaySummary]).isEmpty)
  }

  @Test("An empty ENExposureDaySummary has no items")
  func daySummary() {
    let day = ENExposureDaySummary()
    #expect(day.date == Date(timeIntervalSince1970: 0))
    let items: [ENExposureSummaryItem?] = [
      day.confirmedTestSummary, day.confirmedClinicalDiagnosisSummary, day.recursiveSummary,
      day.selfReportedSummary,
    ]
    #expect(items.allSatisfy { $0 == nil })
    let all: ENExposureSummaryItem = day.daySummary
    #expect(all.maximumScore == 0 as Double && all.scoreSum == 0 as Double)
    #expect(all.weightedDurationSum == 0 as TimeInterval)
    #expect(ENExposureSummaryItem().scoreSum == 0)
  }

  @Test("An empty ENExposureInfo has Apple's defaults")
  func info() {
    let info = ENExposureInfo()
    #expect(info.attenuationDurations == [] as [NSNumber])
    #expect(info.attenuationValue == 0 as ENAttenuation)
    #expect(info.date == Date(timeIntervalSince1970: 0))
    #expect(info.daysSinceOnsetOfSymptoms == ENDaysSinceOnsetOfSymptomsUnknown)
    #expect(info.diagnosisReportType == ENDiagnosisReportType.unknown)
    #expect(info.duration == 0 as TimeInterval)
    #expect(info.metadata?["totalRiskScoreFullRange"] as? Int == 0)
    #expect(info.totalRiskScore == 0 as ENRiskScore)
    #expect(info.totalRiskScoreFullRange == 0 as Double)
    #expect(info.transmissionRiskLevel == 0 as ENRiskLevel)
  }

  @Test("An empty ENExposureWindow and ENScanInstance have Apple's defaults")
  func window() {
    let window = ENExposureWindow()
    #expect(window.calibrationConfidence == ENCalibrationConfidence.lowest)
    #expect(window.date == Date(timeIntervalSince1970: 0))
    #expect(window.diagnosisReportType == ENDiagnosisReportType.unknown)
    #expect(window.infectiousness == ENInfectiousness.none)
    #expect((window.scanInstances as [ENScanInstance]).isEmpty)
    #expect(window.variantOfConcernType == ENVariantOfConcernType.typeUnknown)
    let scan = ENScanInstance()
    #expect(scan.minimumAttenuation == 0 as ENAttenuation)
    #expect(scan.typicalAttenuation == 0 as ENAttenuation)
    #expect(scan.secondsSinceLastScan == 0 as Int)
  }

  @Test("All classes are subclasses of NSObject")
  func objects() {
    let all: [NSObject] = [
      ENManager(), ENExposureConfiguration(), ENTemporaryExposureKey(),
      ENExposureDetectionSummary(), ENExposureDaySummary(), ENExposureSummaryItem(),
      ENExposureInfo(), ENExposureWindow(), ENScanInstance(),
    ]
    #expect(all.count == 9)
  }
}
