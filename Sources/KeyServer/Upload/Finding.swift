import ExposureKeys
import UploadToken

/// What a health authority found, as tokens and certificates name it. Documentation/KeyServer.md 7.4.
enum Finding: String, CaseIterable, Sendable {
  case confirmed
  case likely
  case negative
  case userReport = "user-report"

  /// What the key file says of it.
  var reportType: ReportType {
    switch self {
    case .confirmed: .confirmedTest
    case .likely: .confirmedClinicalDiagnosis
    case .negative: .revoked
    case .userReport: .selfReport
    }
  }

  /// The risk level of a key that was sent without one, or with 0.
  var transmissionRisk: UInt8 {
    switch self {
    case .confirmed: 2
    case .likely: 4
    case .negative: 6
    case .userReport: 0
    }
  }
}
