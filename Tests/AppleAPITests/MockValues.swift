import ExposureNotification
import Foundation

class MockKey: ENTemporaryExposureKey {
  override init() {
    super.init()
  }

  override var keyData: Data {
    get { Data(repeating: 1, count: 16) }
    set {}
  }
  override var rollingPeriod: ENIntervalNumber {
    get { 144 }
    set {}
  }
  override var rollingStartNumber: ENIntervalNumber {
    get { 144 }
    set {}
  }
  override var transmissionRiskLevel: ENRiskLevel {
    get { 3 }
    set {}
  }
}

class MockSummary: ENExposureDetectionSummary {
  override var attenuationDurations: [NSNumber] { [60, 0, 0] }
  override var daysSinceLastExposure: Int { 2 }
  override var matchedKeyCount: UInt64 { 1 }
  override var maximumRiskScore: ENRiskScore { 8 }
  override var maximumRiskScoreFullRange: Double { 800 }
  override var metadata: [AnyHashable: Any]? { ["own": true] }
  override var riskScoreSumFullRange: Double { 800 }
  override var daySummaries: [ENExposureDaySummary] { [MockDaySummary()] }
}

class MockDaySummary: ENExposureDaySummary {
  private var storedDate = Date(timeIntervalSince1970: 86_400)

  override var date: Date {
    get { storedDate }
    set { storedDate = newValue }
  }
  override var confirmedTestSummary: ENExposureSummaryItem? { MockSummaryItem() }
  override var confirmedClinicalDiagnosisSummary: ENExposureSummaryItem? { nil }
  override var recursiveSummary: ENExposureSummaryItem? { nil }
  override var selfReportedSummary: ENExposureSummaryItem? { nil }
  override var daySummary: ENExposureSummaryItem { MockSummaryItem() }
}

class MockSummaryItem: ENExposureSummaryItem {
  override var maximumScore: Double { 60 }
  override var scoreSum: Double { 120 }
  override var weightedDurationSum: TimeInterval { 180 }
}

class MockInfo: ENExposureInfo {
  override var attenuationDurations: [NSNumber] { [60] }
  override var attenuationValue: ENAttenuation { 40 }
  override var date: Date { Date(timeIntervalSince1970: 0) }
  override var daysSinceOnsetOfSymptoms: Int { 1 }
  override var diagnosisReportType: ENDiagnosisReportType { .confirmedTest }
  override var duration: TimeInterval { 300 }
  override var metadata: [AnyHashable: Any]? { nil }
  override var totalRiskScore: ENRiskScore { 9 }
  override var totalRiskScoreFullRange: Double { 900 }
  override var transmissionRiskLevel: ENRiskLevel { 7 }
}

class MockWindow: ENExposureWindow {
  override var calibrationConfidence: ENCalibrationConfidence { .high }
  override var date: Date { Date(timeIntervalSince1970: 0) }
  override var diagnosisReportType: ENDiagnosisReportType { .selfReported }
  override var infectiousness: ENInfectiousness { .high }
  override var scanInstances: [ENScanInstance] { [MockScan()] }
  override var variantOfConcernType: ENVariantOfConcernType { .type2 }
}

class MockScan: ENScanInstance {
  override var minimumAttenuation: ENAttenuation { 20 }
  override var typicalAttenuation: ENAttenuation { 30 }
  override var secondsSinceLastScan: Int { 300 }
}

class MockConfiguration: ENExposureConfiguration {
  override var minimumRiskScore: ENRiskScore {
    get { 1 }
    set {}
  }
  override var immediateDurationWeight: Double {
    get { 150 }
    set {}
  }
}
