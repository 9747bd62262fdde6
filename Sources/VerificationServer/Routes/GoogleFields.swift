import QuietHTTP
import VerificationAPI

// The fields that requests of Google's contract have; others are refused.

extension VerifyRequest: NamedFields {
  public static let fieldNames: Set<String> = ["code", "accept", "nonce", "padding"]
}

extension CertificateRequest: NamedFields {
  public static let fieldNames: Set<String> = ["token", "ekeyhmac", "padding"]
}

extension UserReportRequest: NamedFields {
  public static let fieldNames: Set<String> = [
    "symptomDate", "testDate", "tzOffset", "phone", "nonce", "padding",
  ]
}

extension IssueRequest: NamedFields {
  public static let fieldNames: Set<String> = [
    "symptomDate", "testDate", "testType", "tzOffset", "phone", "smsTemplateLabel", "uuid",
    "externalIssuerID", "onlyGenerateSMS", "padding",
  ]
}

extension CodeHandleRequest: NamedFields {
  public static let fieldNames: Set<String> = ["uuid", "padding"]
}
