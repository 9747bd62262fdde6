import ExposureKeys
import Foundation

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
