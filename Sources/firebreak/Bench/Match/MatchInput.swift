import DiagnosisKeyFile
import Foundation

/// What the matcher under measurement is given.
enum MatchInput {
  case memory([KeyBatch])
  case exports([URL])
  case zips([URL], signedBy: VerificationPublicKey)
}
