// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("Style")
struct StyleTests {
  @Test("Files, functions and lines keep their limits, and file names are specific")
  func form() {
    record((Project.writtenSources + Project.tests + Project.cFiles).flatMap(FormRule.violations))
  }

  @Test("Comments use plain technical English")
  func language() {
    record(Project.checkedForText.flatMap(LanguageRule.violations))
  }

  @Test("Banned patterns do not occur", arguments: BannedPattern.inCode.indices)
  func bannedPatterns(_ index: Int) {
    record(Project.writtenSources.flatMap(BannedPattern.inCode[index].violations))
  }

  @Test("Every try? in Sources has a comment with its reason")
  func ignoredErrors() {
    record(Project.writtenSources.flatMap(IgnoredErrorRule.violations))
  }

  @Test("A list of parameters in the reference is complete")
  func parameters() {
    let documented = Project.writtenSources.filter { file in
      file.target.map { Project.paths.contains("Sources/\($0)/\($0).docc") } == true
    }
    #expect(!documented.isEmpty)
    record(documented.flatMap(ParameterRule.violations))
  }

  @Test("Every authenticated encryption takes its nonce from a parameter")
  func nonces() {
    record(Project.writtenSources.flatMap(NonceRule.violations))
  }

  @Test("No source, test or example starts a process through Foundation")
  func foundationProcess() {
    record(Project.written.flatMap(BannedPattern.foundationProcess.violations))
  }

  @Test("The time limit of every test is the one for broken code")
  func timeLimits() {
    record(Project.tests.flatMap(BannedPattern.literalTimeLimit.violations))
  }

  @Test("A test's connection to a database waits for the transactions of a server")
  func waitingConnections() {
    record(Project.tests.flatMap(BannedPattern.impatientDatabase.violations))
  }

  @Test("No file has a marker of unfinished work or a path of one machine")
  func leftovers() {
    record(Project.checkedForText.flatMap(BannedPattern.textViolations))
    #expect(!Project.paths.contains { $0.lowercased().contains("placeholder") })
  }

  @Test("No file or folder has a space in its name")
  func spaces() {
    let found = Project.paths.filter { $0.contains(" ") }
    #expect(found.isEmpty, "rename \(found)")
  }

  @Test(
    "Types that hold secrets are redacted",
    arguments: [
      "AccessTokenResponse", "AccessTokenRequest", "AddressPrefix", "APIKeyRecord", "APIKeyText",
      "APITokens", "AssociatedEncryptedMetadata", "BudgetKey", "BudgetKeys",
      "CertificateResponse", "CertificateRequest", "CodeHash", "CodeKeys", "CompactToken",
      "DeviceCheckConfiguration", "DeviceVerificationPayload", "ENTemporaryExposureKey",
      "ExportSigner", "IssueResponse", "IssueRequest", "RetainedKey", "KeyFileSigner",
      "KeySchedule",
      "LongCode", "NumericAddress", "PendingUpload", "PhoneNumber", "PublishResponse",
      "PublishConfiguration", "PublishKey", "PublishRequest", "RevisionKeyring",
      "RevisionToken", "RollingProximityIdentifier", "SMSGateway", "SMSMessage", "SMSSigner",
      "Seal", "SealedRevisionKey", "SealedToken", "SealingKey", "SecretSigningKey", "UploadedKey",
      "ShortCode", "SigningKey", "PIN", "CompletedUpload", "UploadRecord", "SecretText",
      "ReleasedKey", "CodeGenerator", "CodeSource", "CodeClient", "ConsoleConfiguration",
      "ConsoleKeys", "ConsoleSecrets", "IssuedCode", "PasswordHash", "Session",
      "RetainedKeyRecord", "KeySecrets", "VerificationSecrets",
      "StoredKeyRow", "TemporaryExposureKey", "TokenKey",
      "UnverifiedCertificate", "UnverifiedUploadToken", "UploadGrant", "UploadKey",
      "UploadPayload", "UploadRequest", "UploadTokenIssuer", "UserReportRequest",
      "VerificationCertificate", "VerificationCode", "VerificationServerConfiguration",
      "VerificationToken", "VerifiedCertificate", "VerifiedUploadToken", "VerifyResponse",
      "VerifyRequest",
    ])
  func secrets(_ type: String) {
    let name = #"\b(extension|struct|class|enum|actor)\s+(\w+\.)?\#(type)\b"#
    let lines = Self.declarations.filter {
      $0.first.contains(type) && $0.first.range(of: name, options: .regularExpression) != nil
    }.map(\.whole)
    #expect(!lines.isEmpty, "\(type) does not exist: remove it from the list")
    #expect(
      lines.contains { $0.contains("Redacted") }, "\(type) must conform to Redacted")
  }

  /// The first line of each declaration of a type and each extension, and all lines up to its brace. They are searched
  /// once for all types.
  private static let declarations = Project.sources.flatMap { file in
    file.matches(#"\b(extension|struct|class|enum|actor)\s+\w"#).map { match in
      // A list of conformances may continue on the next lines.
      let lines = file.code[(match.line - 1)..<min(match.line + 2, file.code.count)]
      return (first: match.text, whole: lines.joined(separator: " ").prefix { $0 != "{" })
    }
  }
}
