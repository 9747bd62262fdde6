// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import VerificationAPI

@testable import HealthAuthorityConsole

/// The sentences of the servers on Polish pages.
@Suite struct ServerSentencesTests {
  @Test(
    "The fault of a typed configuration is Polish, with its field and its limits",
    arguments: [
      ("{", "JSON", "valid"),
      (#"{"version":-1}"#, "version nie może", "must"),
      (#"{"version":1,"riskLevelConfiguration":{"maxNoRiskScore":5000}}"#, "od 0 do 4096", "must"),
      (
        #"{"version":1,"riskLevelConfiguration":{"maxNoRiskScore":9,"maxLowRiskScore":8}}"#,
        "maxLowRiskScore: wymagana wartość większa niż maxNoRiskScore", "must"
      ),
      (#"{"version":1,"exposureConfiguration":{"durationScores":[1]}}"#, "w liczbie 8", "hold"),
      (#"{"version":1,"bogus":2}"#, "bogus nie jest polem", "not a field"),
      (
        #"""
        {"version":1,"transmissionRiskConfiguration":
        {"withoutDate":8,"daysSinceTest":{"15":1},"daysSinceOnsetOfSymptoms":{}}}
        """#, "dniom od -14 do 14", "map"
      ),
    ])
  func configuration(document: String, polish: String, english: String) throws {
    let fault = #expect(throws: ConfigurationDocument.Fault.self) {
      try ConfigurationDocument.configuration(document)
    }
    let message = try #require(fault?.message)
    let shown = Texts(.polish).sentence(message)
    #expect(shown.contains(polish) && !shown.contains(english), "\(message) -> \(shown)")
    #expect(Texts(.english).sentence(message) == message)
  }

  @Test("Every error code of the verification server has a sentence in both languages")
  func codes() {
    for code in VerificationErrorCode.allCases {
      let failure = VerificationFailure(code, "developer's words")
      let (polish, english) = (Texts(.polish).sentence(failure), Texts.english.sentence(failure))
      #expect(!polish.isEmpty && polish != english, "\(code)")
    }
    let quota = VerificationFailure(
      .quotaExceeded,
      "The quota of 500 codes a day is used up; retry later, or ask the operator of the server.")
    #expect(Texts(.polish).sentence(quota).hasPrefix("Dzienny limit kodów (500)"))
    let attempts = VerificationFailure(.quotaExceeded, "Too many attempts; retry later.")
    #expect(Texts(.polish).sentence(attempts).contains("zbyt wiele żądań"))
  }

  @Test("Every refusal of the operations on the servers' folder has a Polish sentence")
  func folder() throws {
    var count = 0
    for file in Self.files {
      let url = Self.package.appendingPathComponent("Sources/\(file).swift")
      let sentences = Self.refusals(in: try String(contentsOf: url, encoding: .utf8))
      #expect(!sentences.isEmpty, "\(file)")
      // An error that is passed on has its own sentence.
      for sentence in sentences where sentence != "value" {
        #expect(Texts(.polish).sentence(sentence) != sentence, "\(file): \(sentence)")
      }
      count += sentences.count
    }
    #expect(count > 30)
  }

  /// The files whose operations the console uses.
  private static let files =
    ["AuthorizedApp", "HealthAuthority", "KeyServerRegistry"].map { "KeyServer/Registry/\($0)" }
    + [
      "DeviceConfiguration/DeviceConfigurationFiles", "ServerSetup+Exports", "ServerSetup+Keys",
      "ServerSetup+Verification", "Console/CodeSource", "Console/FolderAuthority",
      "Console/FolderAuthority+Administration",
    ].map { "ServerOperations/\($0)" } + ["ServerStorage/SignerCalls"]

  /// The sentences of refusals in a source, with a word in the place of each value.
  private static func refusals(in source: String) -> [String] {
    let refusal =
      #/
      (?:badInput|configuration|notOffered|cannotSign|failure)\(\s*((?:"(?:[^"\\]|\\.)*"[\s+]*)+)\)
      /#
    return source.matches(of: refusal).map { match in
      let text = match.1.replacing(/"[\s+]*"/, with: "").drop { $0 == "\"" }
      let end = text.lastIndex(of: "\"") ?? text.endIndex
      let value = /\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/
      return String(text[..<end]).replacing(value, with: "value")
    }
  }

  @Test("Every reason why a token cannot sign has a Polish sentence")
  func tokens() throws {
    let source = try String(
      contentsOf: Self.package.appendingPathComponent("Sources/PKCS11/TokenKeyError.swift"),
      encoding: .utf8)
    let choice = /\\\([^()]*\?[^()]*\)/
    let value = /\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/
    let sentences = source.replacing(choice, with: "").replacing(value, with: "value")
      .matches(of: /"((?:[^"]|"[\s+]+")* (?:[^"]|"[\s+]+")*\.)"/)
      .map { String($0.1.replacing(/"[\s+]+"/, with: "")) }
    #expect(sentences.count == 17, "\(sentences)")
    for sentence in sentences {
      #expect(Texts(.polish).sentence(sentence) != sentence, "\(sentence)")
    }
  }

  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test("The root key away from the server, and a signing key on a token, are explained in Polish")
  func operators() {
    for (english, polish) in [
      ("The root key is not in /srv/root.pem: name its file with --root-key.", "Klucza głównego"),
      (
        "The newest signing key is on a token: name the next one with `firebreak key-server"
          + " signing-key rotate --key pkcs11:...`, or use --key file.", "jest na tokenie"
      ),
      (
        "The newest signing key is on a token: name the next one with `firebreak verification-server"
          + " signing-key rotate --key pkcs11:...`, or use --key file.",
        "poleceniem `firebreak verification-server"
      ),
      (
        "/a does not belong to /b: move the folder away and restore both from one backup.",
        "nie pasuje do"
      ),
      (
        "The key database was created with another secret: restore both from one backup.",
        "sekretem"
      ),
      (
        "app a.b: no export includes the keys of DE, so they would be accepted and never published:"
          + " add an export of DE to furtherExports.", "żaden eksport"
      ),
    ] {
      #expect(Texts(.polish).sentence(english).contains(polish), "\(english)")
    }
  }

  @Test("A form takes its values from the sentence, and an unknown sentence stays as it is")
  func forms() {
    let values = ServerSentences.values(of:in:)
    #expect(values("a is 1 to 2.", "%1 is %2 to %3.") == ["a", "1", "2"])
    #expect(values("a is 1.", "%1 is %2 to %3.") == nil)
    #expect(values("a", "%1 a") == nil && values("ab", "ab") == [] && values("ab.", "ab") == nil)
    let unknown = "The server has a new sentence."
    #expect(Texts(.polish).sentence(unknown) == unknown)
    #expect(
      Texts(.polish).sentence(
        "The app a.b: A region is two upper-case letters, such as PL, and 'x' is not.")
        == "Aplikacja a.b: Region to dwie wielkie litery, np. PL, a „x” nim nie jest.")
  }

  @Test("The refusal of a code is shown in the language of the page, and so is one in a list")
  func pages() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer, language: "pl")
      console.authority.state.failure = .notIssued(
        VerificationFailure(.invalidDate, "Dates must not be in the future."))
      let form = try await browser.get("/codes/new")
      let page = try await browser.post(
        "/codes", ["uuid": form.field("uuid"), "test": "confirmed", "symptoms": "2027-01-17"])
      #expect(page.status == 422)
      #expect(
        page.element("fault") == "Dzień nie może być w przyszłości ani dawniej niż 28 dni temu.")
      let batch = try await browser.get("/codes/batch").field("batch")
      let list = try await browser.post(
        "/codes/batch", ["batch": batch, "lines": "A-1,confirmed,"])
      #expect(list.text.contains("Dzień nie może być") && !list.text.contains("Dates must"))
    }
  }
}
