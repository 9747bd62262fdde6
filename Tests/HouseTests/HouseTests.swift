import Foundation
import TestSupport
import Testing

@Suite("The house is in order")
struct HouseTests {
  /// Targets that are no rooms: for tests, and for the pages of the reference.
  static let outsideTheHouse: Set<String> = ["TestSupport", "snippets"]

  private func expectNone(_ findings: [Finding], sourceLocation: SourceLocation = #_sourceLocation)
  {
    for finding in findings {
      Issue.record(Comment(rawValue: finding.description), sourceLocation: sourceLocation)
    }
  }

  @Test("The house was found where it stands")
  func found() {
    #expect(House.sources.count > 50)
    #expect(House.tests.count > 20)
  }

  @Test("Every room looks only at rooms below it")
  func imports() {
    expectNone(House.sources.flatMap(ImportRule.findings))
  }

  @Test("C includes its own headers and the few of the system that its room needs")
  func includes() {
    #expect(House.inC.count > 5)
    expectNone(
      House.inC.flatMap { file in
        IncludeRule.findings(in: file, headers: Set(House.inC.map(\.name)))
      })
  }

  @Test(
    "Every folder under Sources is a room of the floor plan, and every room of the plan is there")
  func everyRoom() {
    #expect(Set(House.rooms) == Set(FloorPlan.rooms.keys))
  }

  @Test("The floor plan has stairs in one direction only")
  func noCircles() {
    var settled: Set<String> = []
    while let next = FloorPlan.rooms.first(where: { name, room in
      !settled.contains(name) && room.rooms.isSubset(of: settled)
    }) {
      settled.insert(next.key)
    }
    #expect(settled == Set(FloorPlan.rooms.keys))
  }

  @Test("Package.swift gives no target more than the floor plan")
  func manifest() throws {
    let manifest = Manifest(try #require(House.text("Package.swift")))
    #expect(
      Set(manifest.dependencies.keys).subtracting(Self.outsideTheHouse) == Set(FloorPlan.rooms.keys)
    )
    for (target, dependencies) in manifest.dependencies
    where !Self.outsideTheHouse.contains(target) {
      let allowed = try #require(FloorPlan.importable(by: target))
      let beyond = dependencies.subtracting(allowed).sorted()
      #expect(beyond.isEmpty, "Package.swift: \(target) depends on \(beyond): take that out")
    }
  }

  @Test("Every import is a dependency that Package.swift declares")
  func declared() throws {
    let manifest = Manifest(try #require(House.text("Package.swift")))
    let modules = FloorPlan.allModules
    expectNone(
      House.sources.flatMap { file in
        let declared = manifest.dependencies[file.room ?? ""] ?? []
        return ImportRule.imports(of: file).filter {
          modules.contains($0.module) && !declared.contains($0.module)
        }.map { file.finding($0.line, "declare \($0.module) in Package.swift") }
      })
  }

  @Test("No server can name a contact, no app a key, no server the other's secret")
  func invariants() {
    func reach(_ room: String) -> Set<String> {
      let next = FloorPlan.rooms[room]?.rooms ?? []
      return next.reduce(into: next) { $0.formUnion(reach($1)) }
    }
    for server in ["VerificationServer", "KeyServer"] {
      #expect(reach(server).isDisjoint(with: ["ExposureNotification", "ExposureApp"]))
    }
    #expect(
      reach("VerificationServer").isDisjoint(with: ["KeyServerAPI", "KeyServer", "ExposureKeys"]))
    #expect(reach("KeyServer").isDisjoint(with: ["VerificationAPI", "VerificationServer"]))
    #expect(FloorPlan.importable(by: "ExposureApp")?.contains("ExposureKeys") == false)
    #expect(FloorPlan.importable(by: "ExposureApp")?.contains("DiagnosisKeyFile") == false)
    #expect(FloorPlan.importable(by: "ExposureNotification")?.contains("AsyncHTTPClient") == false)
  }

  @Test("Nothing is done that is not done in this house", arguments: BanRule.ofCode.indices)
  func bans(_ index: Int) {
    expectNone(House.writtenSources.flatMap(BanRule.ofCode[index].findings))
  }

  @Test("No wish and no machine's path is left in a file")
  func texts() {
    expectNone(House.outsideThisRoom.flatMap(BanRule.textFindings))
  }

  @Test("Files and functions are small, lines are short, names say something")
  func form() {
    expectNone((House.written + House.inC).flatMap(FormRule.findings))
  }

  @Test("One type a file")
  func types() {
    expectNone(House.writtenSources.flatMap(FormRule.types))
  }

  @Test("Every public and package declaration says what it is")
  func comments() {
    let requirements = CommentRule.requirements(in: House.writtenSources)
    expectNone(
      House.writtenSources.flatMap { CommentRule.findings(in: $0, requirements: requirements) })
  }

  @Test("No file or folder has a blank in its name")
  func blanks() {
    let found = House.paths.filter { $0.contains(" ") }
    #expect(found.isEmpty, "rename \(found)")
  }

  @Test(
    "Every secret says its kind and nothing else",
    arguments: [
      "AccessTokenAnswer", "AccessTokenRequest", "AddressPrefix", "ApiKeyRecord", "ApiKeyText",
      "ApiTokens", "CertificateAnswer", "CertificateRequest", "IssueAnswer", "IssueRequest",
      "LongCode", "NumericAddress", "PhoneNumber", "SMSGateway", "SMSMessage", "SMSSigner",
      "ShortCode", "UserReportRequest", "VerificationToken", "VerifyAnswer", "VerifyRequest",
      "AssociatedEncryptedMetadata", "BudgetKey", "BudgetKeys", "CodeHash", "CodeKeys",
      "CompactToken",
      "DeviceCheckConfiguration", "DeviceVerificationPayload", "ENTemporaryExposureKey",
      "ExportSigner", "KeptKey", "KeyFileSigner", "KeySchedule", "KnownKey", "PendingUpload",
      "PublishAnswer", "PublishConfiguration", "PublishKey", "PublishRequest", "RevisableKey",
      "RevisionKeyring", "RevisionToken", "SealedRevisionKey", "SentKey",
      "RollingProximityIdentifier", "Seal", "SealedToken", "SealingKey",
      "SecretSigningKey", "SigningKey", "StoredKey",
      "StoredKeptKey",
      "TemporaryExposureKey", "UnverifiedCertificate", "UnverifiedUploadToken", "UploadGrant",
      "UploadKey",
      "UploadPayload", "UploadRequest", "UploadTokenIssuer", "VerificationCertificate",
      "VerificationCode",
      "VerificationServerConfiguration", "VerifiedCertificate", "VerifiedUploadToken",
    ])
  func secrets(_ type: String) {
    let files = House.sources.filter {
      !$0.matches(#"\b(extension|struct|class|enum|actor)\s+\#(type)\b"#).isEmpty
    }
    #expect(!files.isEmpty, "\(type) is gone: take it from the list")
    let isSilent = files.contains { file in
      !file.matches(#"var customMirror\b"#).isEmpty && !file.matches(#"var description\b"#).isEmpty
    }
    #expect(isSilent, "\(type) needs a redacted description and an empty customMirror")
  }
}
