// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import ServedSystem
import Settings
import TestSupport
import Testing
import VerificationServer
import World

@Suite("Settings of SMS and user reports", .needs(.process))
struct SMSSettingsTests {
  private static let order = #"{"testType":"confirmed","phone":"+48123456789"}"#

  /// The texts in the folder for a gateway.
  private func spooled(_ authority: ServedAuthority) throws -> [[String: String]] {
    let folder = authority.folder.path("data/verification/sms")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
      let file = folder.appendingPathComponent(name)
      let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[
        .posixPermissions]
      #expect((permissions as? NSNumber)?.intValue == 0o600 && name.hasSuffix(".json"))
      return try JSONDecoder().decode([String: String].self, from: Data(contentsOf: file))
    }
  }

  private func issue(_ authority: ServedAuthority, _ body: String = Self.order) async throws
    -> ServedAuthority.Response
  {
    try await authority.post(
      "\(authority.verification)/api/issue", body,
      headers: ["X-API-Key": try await authority.apiKey("admin")])
  }

  /// Repeats an attempt in which the gateway of the test took longer than servers wait for one.
  private func untilInTime(
    _ attempt: nonisolated(nonsending) () async throws -> Bool
  ) async throws -> Bool {
    try await Patience.succeeds(within: Int(VerificationLimit.smsSecondsMax), attempt)
  }

  @Test("A code is written to the folder as a signed text with a link of the configured domain")
  func folder() async throws {
    let key = P256.Signing.PrivateKey()
    let authority = try await ServedAuthority(
      [
        "verification/settings.json": """
        {"sms": {"region": "PL", "linkDomain": "en.example", "folder": "sms",
          "templates": {"short": "[region] [enslink]", "other": "Other [code]"},
          "defaultTemplate": "short", "signing": {"keyID": "s1", "keyFile": "sms.pem"}}}
        """, "verification/sms.pem": key.pemRepresentation,
      ], folders: ["verification/sms"])
    let years = [SystemClock().now.formatted(.iso8601.year())]
    #expect(try await issue(authority).status == 200)
    let text = try #require(try spooled(authority).first)
    #expect(text["phone"] == "+48123456789")
    let parts = try #require(text["text"]).components(separatedBy: " \nAuthentication:")
    try #require(parts.count == 2)
    let link = #/PL https:\/\/pl\.en\.example\/v\?c=([0-9a-z]{16})/#
    let code = try #require(parts[0].wholeMatch(of: link)?.1)
    let fields = parts[1].split(separator: ":").map(String.init)
    #expect(fields.count == 3 && fields[1] == "s1")
    let padding = String(repeating: "=", count: (4 - fields[2].count % 4) % 4)
    let signature = try P256.Signing.ECDSASignature(
      derRepresentation: try #require(Data(base64Encoded: fields[2] + padding)))
    // The year may have ended meanwhile.
    let isSigned = (years + [SystemClock().now.formatted(.iso8601.year())]).contains { year in
      let day = "\(year)-\(fields[0].prefix(2))-\(fields[0].suffix(2))"
      let signed = "EN Report.+48123456789.\(day).\(parts[0]) \nAuthentication:"
      return key.publicKey.isValidSignature(signature, for: Data(signed.utf8))
    }
    #expect(isSigned)
    let verified = try await authority.post(
      "\(authority.verification)/api/verify", #"{"code":"\#(code)","accept":["confirmed"]}"#,
      headers: ["X-API-Key": try await authority.apiKey("device")])
    #expect(verified.status == 200)
    let other = try await issue(
      authority,
      #"{"testType":"confirmed","phone":"+48123456780","smsTemplateLabel":"other"}"#)
    #expect(other.status == 200)
    let texts = try spooled(authority).compactMap { $0["text"] }
    #expect(texts.contains { $0.hasPrefix("Other \(other.json["code"] as? String ?? "-")") })
  }

  @Test(
    "A text is sent through the gateway with the token of its file, and a rejection is reported to the caller"
  )
  func gateway() async throws {
    let gateway = try StandInAuthority(.init(status: 201, body: "{}"))
    let authority = try await ServedAuthority([
      "verification/settings.json": """
      {"sms": {"region": "US-WA", "gateway": {"baseURL": "\(gateway.address)", "account": "AC1",
        "tokenFile": "gateway-token", "from": "+48500"}}}
      """, "verification/gateway-token": "top secret\n",
    ])
    #expect(try await untilInTime { try await issue(authority).status == 200 })
    let request = try #require(gateway.requests.first)
    #expect(request.path == "/2010-04-01/Accounts/AC1/Messages.json")
    let basic = Data("AC1:top secret".utf8).base64EncodedString()
    #expect(request.headers["authorization"] == "Basic \(basic)")
    let form = String(decoding: request.body, as: UTF8.self)
    #expect(form.contains("To=%2B48123456789&From=%2B48500&Body="))
    #expect(form.contains("ens%3A%2F%2Fv%3Fr%3DUS-WA%26c%3D"))
    gateway.respond(with: .init(status: 400, body: #"{"code":30001}"#))
    #expect(
      try await untilInTime {
        let full = try await issue(authority)
        return (full.status, full.code) == (400, "sms_queue_full")
      })
    let shown = try await authority.run("verification-server", "settings", "--json")
    #expect(shown.status == 0 && !shown.output.contains("top secret"))
  }

  @Test("Texts are appended to a file; without settings no SMS is sent")
  func file() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json": #"{"sms": {"region": "PL", "file": "sms.jsonl"}}"#
    ])
    #expect(try await issue(authority).status == 200)
    let lines = try String(
      contentsOf: authority.folder.path("data/verification/sms.jsonl"), encoding: .utf8)
    #expect(lines.contains("ens://v?r=PL&c=") && lines.split(separator: "\n").count == 1)
    let without = try await ServedAuthority()
    let response = try await issue(without)
    #expect((response.status, response.code) == (400, "sms_failure"))
  }

  @Test("A file for texts that others can read is refused, and an existing file with texts is used")
  func fileOfOthers() throws {
    let folder = try TemporaryFolder()
    let text = #"{"sms": {"region": "PL", "file": "sms.jsonl"}}"#
    try Data(text.utf8).write(to: folder.path("settings.json"))
    let file = folder.path("sms.jsonl").path
    for (content, permissions, isAccepted) in [
      ("", 0o600, true), (#"{"phone":"+48","text":"a"}"#, 0o600, true), ("", 0o640, false),
      ("{}", 0o600, false),
    ] {
      try Data(content.utf8).write(to: URL(fileURLWithPath: file))
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file)
      let settings = try? VerificationServerSettings(
        SettingsFile(url: folder.path("settings.json")))
      #expect((settings != nil) == isAccepted)
    }
  }

  @Test(
    "User reports are off by default; when on, one phone number gets one SMS")
  func userReport() async throws {
    let nonce = Data(repeating: 9, count: 256).base64EncodedString()
    let today = SystemClock().now.formatted(.iso8601.year().month().day())
    let report =
      #"{"testDate":"\#(today)","tzOffset":0,"phone":"+48123456789","nonce":"\#(nonce)"}"#
    let sms =
      #""sms": {"region": "PL", "folder": "sms", "templates": {"a": "[longcode]"},"#
      + #" "defaultTemplate": "a"}"#
    for isOn in [false, true] {
      let policy = isOn ? #", "policy": {"allowsUserReport": true}"# : ""
      let authority = try await ServedAuthority(
        ["verification/settings.json": "{\(sms)\(policy)}"], folders: ["verification/sms"])
      let key = ["X-API-Key": try await authority.apiKey("device")]
      func ask() async throws -> ServedAuthority.Response {
        try await authority.post("\(authority.verification)/api/user-report", report, headers: key)
      }
      let first = try await ask()
      guard isOn else {
        #expect((first.status, first.code) == (400, "unsupported_test_type"))
        #expect(try spooled(authority).isEmpty)
        continue
      }
      #expect(first.status == 200 && first.json["expiresAtTimestamp"] is Int)
      #expect(try await ask().status == 200)
      let texts = try spooled(authority)
      #expect(texts.count == 1)
      let verified = try await authority.post(
        "\(authority.verification)/api/verify",
        #"{"code":"\#(texts.first?["text"] ?? "")","accept":["user-report"],"nonce":"\#(nonce)"}"#,
        headers: key)
      #expect(verified.json["testtype"] as? String == "user-report")
      // The phone number is not stored in readable form.
      let database = authority.folder.path("data/verification/verification.sqlite")
      let bytes = try Data(contentsOf: database)
      #expect(bytes.range(of: Data("48123456789".utf8)) == nil)
    }
  }

  @Test("Invalid SMS settings are refused in one line that names them")
  func refused() async throws {
    for (sms, words) in [
      (#"{"region": "PL"}"#, "sms must have one of folder, file and gateway"),
      (#"{"region": "PL", "folder": "sms", "file": "a"}"#, "sms must have one of"),
      (#"{"region": "PL", "folder": "none"}"#, "sms.folder: "),
      (#"{"region": "PL", "file": "no/a"}"#, "sms.file: "),
      (#"{"region": "pl", "folder": "sms"}"#, "sms.region"),
      (#"{"region": "PL", "folder": "sms", "linkDomain": "en"}"#, "sms.linkDomain"),
      (#"{"region": "PL", "folder": "sms", "defaultTemplate": "x"}"#, "sms.defaultTemplate"),
      (
        #"{"region": "PL", "folder": "sms", "templates": {"Default SMS template": "Ill."}}"#,
        "sms.templates[Default SMS template]"
      ),
      (#"{"folder": "sms"}"#, "sms.region is missing"),
      (
        #"{"region": "PL", "folder": "sms", "signing": {"keyID": "a", "keyFile": "b"}}"#,
        "sms.signing.keyFile"
      ),
      (
        #"{"region": "PL", "gateway": {"baseURL": "ftp://a", "account": "a"}}"#,
        "sms.gateway.baseURL must be an https URL"
      ),
      (#"{"region": "PL", "gateway": {"baseURL": "https://a"}}"#, "sms.gateway.account is missing"),
    ] {
      let folder = try TemporaryFolder()
      try ServedAuthority.write(
        ["verification/settings.json": "{\"sms\": \(sms)}"], folders: ["verification/sms"],
        in: folder)
      let run = try await Run("verification-server", "settings", "--data", folder.path("data").path)
      #expect(run.status == 2 && run.errors.contains(words), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1 && run.output.isEmpty)
      #expect(run.errors.contains("settings.json"))
    }
    let folder = try TemporaryFolder()
    try ServedAuthority.write(
      ["verification/settings.json": #"{"policy": {"allowsUserReport": true}}"#], in: folder)
    let run = try await Run("verification-server", "settings", "--data", folder.path("data").path)
    #expect(run.status == 2 && run.errors.contains("policy.allowsUserReport"))
  }
}
