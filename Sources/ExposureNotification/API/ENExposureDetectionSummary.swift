// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation

/// The summary of a detection. It identifies no person and no place.
open class ENExposureDetectionSummary: NSObject {
  let sums: ExposureSummary

  /// A summary without exposures.
  public override init() {
    sums = ExposureSummary()
  }

  /// The summary of one detection.
  package init(_ summary: ExposureSummary) {
    sums = summary
  }

  /// Seconds in each range of attenuation over all exposures; version 1 only.
  open var attenuationDurations: [NSNumber] {
    sums.attenuationDurations.map { NSNumber(value: $0) }
  }
  /// Days since the latest exposure; 0 if there is none.
  open var daysSinceLastExposure: Int { sums.daysSinceLastExposure }
  /// The number of different keys that matched.
  open var matchedKeyCount: UInt64 { UInt64(sums.matchedKeyCount) }
  /// The highest risk score, 0 to 255.
  open var maximumRiskScore: ENRiskScore { sums.maximumScore.capped }
  /// The highest risk score before capping, 0 to 4,096.
  open var maximumRiskScoreFullRange: Double { Double(sums.maximumScore.fullRange) }
  /// The two full range scores in the form that apps for iOS 13.5 use.
  open var metadata: [AnyHashable: Any]? {
    [
      "maximumRiskScoreFullRange": NSNumber(value: maximumRiskScoreFullRange),
      "riskScoreSumFullRange": NSNumber(value: riskScoreSumFullRange),
    ]
  }
  /// The sum of all risk scores before capping.
  open var riskScoreSumFullRange: Double { Double(sums.scoreSumFullRange) }
  /// The summaries of days with exposures, oldest first; version 2 only.
  open var daySummaries: [ENExposureDaySummary] {
    sums.days.map(ENExposureDaySummary.init)
  }
}

// A detection's values as Apple's objects; new objects each time.
extension DetectionResult {
  /// The summary.
  package var summary: ENExposureDetectionSummary { ENExposureDetectionSummary(found) }
  /// The exposures of API version 1.
  package var infos: [ENExposureInfo] { incidents.map(ENExposureInfo.init) }
  /// The windows of API version 2.
  package var windows: [ENExposureWindow] { exposureWindows.map(ENExposureWindow.init) }
}

/// The exposures of one day in API version 2.
open class ENExposureDaySummary: NSObject {
  private let day: DaySummary

  /// A day without exposures.
  public override init() {
    day = DaySummary(date: Date(timeIntervalSince1970: 0))
  }

  /// The sums of one day.
  package init(_ day: DaySummary) {
    self.day = day
  }

  /// Midnight UTC of the day.
  open var date: Date { day.date }
  /// The exposures to users with a positive test; nil if there is none.
  open var confirmedTestSummary: ENExposureSummaryItem? { item(.confirmedTest) }
  /// The exposures to users with a doctor's diagnosis; nil if there is none.
  open var confirmedClinicalDiagnosisSummary: ENExposureSummaryItem? {
    item(.confirmedClinicalDiagnosis)
  }
  /// The exposures to contacts of contacts: reserved, nil.
  open var recursiveSummary: ENExposureSummaryItem? { item(.recursive) }
  /// The exposures to users with a self-report; nil if there is none.
  open var selfReportedSummary: ENExposureSummaryItem? { item(.selfReported) }
  /// All exposures of the day.
  open var daySummary: ENExposureSummaryItem { ENExposureSummaryItem(day.total) }

  private func item(_ type: ENDiagnosisReportType) -> ENExposureSummaryItem? {
    day.byReportType[type].map(ENExposureSummaryItem.init)
  }
}

/// The risk of one day, or of one report type on that day.
open class ENExposureSummaryItem: NSObject {
  private let sums: ExposureSums

  /// No risk.
  public override init() {
    sums = ExposureSums()
  }

  /// The sums of one day and one report type.
  package init(_ sums: ExposureSums) {
    self.sums = sums
  }

  /// The highest exposure risk value of a window, in seconds, to the nearest minute.
  open var maximumScore: Double { sums.roundedMaximumScore }
  /// The sum of all exposure risk values, in seconds, to the nearest minute.
  open var scoreSum: Double { sums.roundedScoreSum }
  /// The seconds of exposure weighted by attenuation alone, up to the next minute.
  open var weightedDurationSum: TimeInterval { sums.roundedWeightedDurationSum }
}

/// One exposure and its risk in API version 1.
open class ENExposureInfo: NSObject {
  private let incident: ScoredIncident

  /// An exposure without values.
  public override init() {
    incident = ScoredIncident()
  }

  /// An exposure that was detected.
  package init(_ incident: ScoredIncident) {
    self.incident = incident
  }

  /// Seconds in each range of attenuation, from near to far, together at most 1,800.
  open var attenuationDurations: [NSNumber] {
    incident.attenuationDurations.map { NSNumber(value: $0) }
  }
  /// The mean attenuation of the whole exposure in dB, weighted by duration.
  open var attenuationValue: ENAttenuation { incident.attenuation.decibels }
  /// Midnight UTC of the day of the exposure.
  open var date: Date { incident.date }
  /// Days from the first symptoms to the exposure; `ENDaysSinceOnsetOfSymptomsUnknown` if not known.
  open var daysSinceOnsetOfSymptoms: Int {
    incident.daysSinceOnsetOfSymptoms ?? ENDaysSinceOnsetOfSymptomsUnknown
  }
  /// The basis of the diagnosis.
  open var diagnosisReportType: ENDiagnosisReportType { incident.diagnosisReportType }
  /// Seconds of exposure: whole minutes, at most 1,800.
  open var duration: TimeInterval { TimeInterval(incident.duration) }
  /// `totalRiskScoreFullRange` in the form that apps for iOS 13.5 use.
  open var metadata: [AnyHashable: Any]? {
    ["totalRiskScoreFullRange": NSNumber(value: totalRiskScoreFullRange)]
  }
  /// The risk score, 0 to 255.
  open var totalRiskScore: ENRiskScore { incident.score.capped }
  /// The risk score before capping, 0 to 4,096.
  open var totalRiskScoreFullRange: Double { Double(incident.score.fullRange) }
  /// The transmission risk level of the key.
  open var transmissionRiskLevel: ENRiskLevel { incident.transmissionRiskLevel }
}

/// An exposure of up to 30 minutes to one diagnosed user.
///
/// Windows of the same user cannot be linked.
open class ENExposureWindow: NSObject {
  private let window: ExposureWindow

  /// An empty window.
  public override init() {
    window = ExposureWindow()
  }

  /// A window that was detected.
  package init(_ window: ExposureWindow) {
    self.window = window
  }

  /// The confidence in the calibration of the sender's transmit power.
  open var calibrationConfidence: ENCalibrationConfidence { window.calibrationConfidence }
  /// Midnight UTC of the day of the window.
  open var date: Date { window.date }
  /// The basis of the diagnosis.
  open var diagnosisReportType: ENDiagnosisReportType { window.diagnosisReportType }
  /// The infectiousness of the diagnosed user.
  open var infectiousness: ENInfectiousness { window.infectiousness }
  /// The scans in the order of time.
  open var scanInstances: [ENScanInstance] { window.scanInstances.map(ENScanInstance.init) }
  /// The variant of the virus, if known. Scores do not depend on it; apps may filter by it.
  open var variantOfConcernType: ENVariantOfConcernType { window.variantOfConcernType }
}

/// One Bluetooth scan of an exposure window.
open class ENScanInstance: NSObject {
  private let scan: ScanInstance

  /// A scan without beacons.
  public override init() {
    scan = ScanInstance(minimumAttenuation: 0, typicalAttenuation: 0, secondsSinceLastScan: 0)
  }

  /// A scan of a detected window.
  package init(_ scan: ScanInstance) {
    self.scan = scan
  }

  /// The least attenuation of the scan's beacons, in dB.
  open var minimumAttenuation: ENAttenuation { scan.minimumAttenuation }
  /// The mean attenuation of the scan's beacons, in dB, rounded.
  open var typicalAttenuation: ENAttenuation { scan.typicalAttenuation }
  /// Seconds since the previous scan: whole minutes, at most 300.
  open var secondsSinceLastScan: Int { scan.secondsSinceLastScan }
}
