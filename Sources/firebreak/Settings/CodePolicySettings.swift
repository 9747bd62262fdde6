import VerificationAPI
import VerificationServer

/// How codes of Google's contract are made and what they are taken for. Names and defaults are those of
/// `CodePolicy`.
struct CodePolicySettings: Codable {
  var shortCodeDigits: Int
  var shortCodeLifetime: Double
  var longCodeCharacters: Int
  var longCodeLifetime: Double
  var verificationTokenLifetime: Double
  var certificateLifetime: Double
  var testTypes: [String]
  var requiresDate: Bool
  var allowsUserReport: Bool
  var allowsBatchIssue: Bool
  var allowsGeneratedSMS: Bool
  var isInMaintenance: Bool

  /// The defaults.
  init() {
    let standard = CodePolicy()
    shortCodeDigits = standard.shortCodeDigits
    shortCodeLifetime = standard.shortCodeLifetime
    longCodeCharacters = standard.longCodeCharacters
    longCodeLifetime = standard.longCodeLifetime
    verificationTokenLifetime = standard.verificationTokenLifetime
    certificateLifetime = standard.certificateLifetime
    testTypes = standard.testTypes.map(\.rawValue).sorted()
    requiresDate = standard.requiresDate
    allowsUserReport = standard.allowsUserReport
    allowsBatchIssue = standard.allowsBatchIssue
    allowsGeneratedSMS = standard.allowsGeneratedSMS
    isInMaintenance = standard.isInMaintenance
  }

  init(from decoder: any Decoder) throws {
    self.init()
    let fields = try SettingFields<CodingKeys>(decoder)
    try fields.read(.shortCodeDigits, into: &shortCodeDigits)
    try fields.read(.shortCodeLifetime, into: &shortCodeLifetime)
    try fields.read(.longCodeCharacters, into: &longCodeCharacters)
    try fields.read(.longCodeLifetime, into: &longCodeLifetime)
    try fields.read(.verificationTokenLifetime, into: &verificationTokenLifetime)
    try fields.read(.certificateLifetime, into: &certificateLifetime)
    try fields.read(.testTypes, into: &testTypes, "needs a list of \(Self.issued)") {
      (names: [String]) in
      let isGood = !names.isEmpty && names.allSatisfy(Self.issuable.contains)
      return isGood ? Set(names).sorted() : nil
    }
    try fields.read(.requiresDate, into: &requiresDate)
    try fields.read(.allowsUserReport, into: &allowsUserReport)
    try fields.read(.allowsBatchIssue, into: &allowsBatchIssue)
    try fields.read(.allowsGeneratedSMS, into: &allowsGeneratedSMS)
    try fields.read(.isInMaintenance, into: &isInMaintenance)
  }

  /// What an official may issue: a user report is reported, not issued.
  private static let issuable = TestType.allCases.filter { $0 != .userReport }.map(\.rawValue)
  private static var issued: String { issuable.joined(separator: ", ") }

  /// The policy as the server takes it.
  var policy: CodePolicy {
    var policy = CodePolicy()
    policy.shortCodeDigits = shortCodeDigits
    policy.shortCodeLifetime = shortCodeLifetime
    policy.longCodeCharacters = longCodeCharacters
    policy.longCodeLifetime = longCodeLifetime
    policy.verificationTokenLifetime = verificationTokenLifetime
    policy.certificateLifetime = certificateLifetime
    policy.testTypes = Set(testTypes.compactMap(TestType.init(rawValue:)))
    policy.requiresDate = requiresDate
    policy.allowsUserReport = allowsUserReport
    policy.allowsBatchIssue = allowsBatchIssue
    policy.allowsGeneratedSMS = allowsGeneratedSMS
    policy.isInMaintenance = isInMaintenance
    return policy
  }
}
