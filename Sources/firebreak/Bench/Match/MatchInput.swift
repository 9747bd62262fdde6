import DiagnosisKeyFile
import ExposureKeys
import Foundation

/// What the matcher under measurement is given.
enum MatchInput {
  case memory([DiagnosisKey])
  case exports([URL])
  case zips([URL], signedBy: VerificationPublicKey)
}
