import Crypto
import Foundation
import TestSupport
import Testing
import World

@testable import firebreak

/// Documentation/Serving.md 13.
@Suite("SMS and user reports, as an official sets them")
struct SMSSettingsTests {
  private static let order = #"{"testType":"confirmed","phone":"+48123456789"}"#

  /// The texts that lie in the folder that a gateway empties.
  private func spooled(_ authority: ServedAuthority) throws -> [[String: String]] {
    let folder = authority.folder.path("data/verification/sms")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
      let file = folder.appendingPathComponent(name)
      let rights = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      #expect((rights as? NSNumber)?.intValue == 0o600 && name.hasSuffix(".json"))
      return try JSONDecoder().decode([String: String].self, from: Data(contentsOf: file))
    }
  }

  private func issue(_ authority: ServedAuthority, _ body: String = Self.order) throws
    -> ServedAuthority.Answer
  {
    try authority.post(
      "\(authority.verification)/api/issue", body,
      headers: ["X-API-Key": try authority.apiKey("admin")])
  }

  @Test("A code goes into the folder as a signed text with the link of the domain that is set")
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
    #expect(try issue(authority).status == 200)
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
    let year = SystemClock().now.formatted(.iso8601.year())
    let day = "\(year)-\(fields[0].prefix(2))-\(fields[0].suffix(2))"
    let said = "EN Report.+48123456789.\(day).\(parts[0]) \nAuthentication:"
    #expect(key.publicKey.isValidSignature(signature, for: Data(said.utf8)))
    let verified = try authority.post(
      "\(authority.verification)/api/verify", #"{"code":"\#(code)","accept":["confirmed"]}"#,
      headers: ["X-API-Key": try authority.apiKey("device")])
    #expect(verified.status == 200)
    let other = try issue(
      authority,
      #"{"testType":"confirmed","phone":"+48123456780","smsTemplateLabel":"other"}"#)
    #expect(other.status == 200)
    let texts = try spooled(authority).compactMap { $0["text"] }
    #expect(texts.contains { $0.hasPrefix("Other \(other.json["code"] as? String ?? "-")") })
  }

  @Test("A gateway is asked over HTTP with the token of its file; its refusals reach the official")
  func gateway() async throws {
    let gateway = try StandInAuthority(.init(status: 201, body: "{}"))
    let authority = try await ServedAuthority([
      "verification/settings.json": """
      {"sms": {"region": "US-WA", "gateway": {"baseURL": "\(gateway.address)", "account": "AC1",
        "tokenFile": "gateway-token", "from": "+48500"}}}
      """, "verification/gateway-token": "top secret\n",
    ])
    #expect(try issue(authority).status == 200)
    let question = try #require(gateway.questions.first)
    #expect(question.path == "/2010-04-01/Accounts/AC1/Messages.json")
    let basic = Data("AC1:top secret".utf8).base64EncodedString()
    #expect(question.headers["authorization"] == "Basic \(basic)")
    let form = String(decoding: question.body, as: UTF8.self)
    #expect(form.contains("To=%2B48123456789&From=%2B48500&Body="))
    #expect(form.contains("ens%3A%2F%2Fv%3Fr%3DUS-WA%26c%3D"))
    gateway.now(says: .init(status: 400, body: #"{"code":30001}"#))
    let full = try issue(authority)
    #expect((full.status, full.code) == (400, "sms_queue_full"))
    let shown = try authority.run("verification-server", "settings", "--json")
    #expect(shown.status == 0 && !shown.output.contains("top secret"))
  }

  @Test("Texts may be appended to a file; without settings no SMS is sent")
  func file() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json": #"{"sms": {"region": "PL", "file": "sms.jsonl"}}"#
    ])
    #expect(try issue(authority).status == 200)
    let lines = try String(
      contentsOf: authority.folder.path("data/verification/sms.jsonl"), encoding: .utf8)
    #expect(lines.contains("ens://v?r=PL&c=") && lines.split(separator: "\n").count == 1)
    let without = try await ServedAuthority()
    let answer = try issue(without)
    #expect((answer.status, answer.code) == (400, "sms_failure"))
  }

  @Test("A file for texts that others can read is refused; one that holds texts goes on")
  func fileOfOthers() throws {
    let folder = try TemporaryFolder()
    let text = #"{"sms": {"region": "PL", "file": "sms.jsonl"}}"#
    let settings = try JSONDecoder().decode(
      VerificationServerSettings.self, from: Data(text.utf8))
    let file = folder.path("sms.jsonl").path
    for (content, rights, isTaken) in [
      ("", 0o600, true), (#"{"phone":"+48","text":"a"}"#, 0o600, true), ("", 0o640, false),
      ("{}", 0o600, false),
    ] {
      try Data(content.utf8).write(to: URL(fileURLWithPath: file))
      try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: file)
      let configuration = try? settings.sms?.configuration(in: folder.url)
      #expect((configuration != nil) == isTaken)
    }
  }

  @Test(
    "User reports are off by default; switched on they are answered, and one phone gets one SMS")
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
      let key = ["X-API-Key": try authority.apiKey("device")]
      func ask() throws -> ServedAuthority.Answer {
        try authority.post("\(authority.verification)/api/user-report", report, headers: key)
      }
      let first = try ask()
      guard isOn else {
        #expect((first.status, first.code) == (400, "unsupported_test_type"))
        #expect(try spooled(authority).isEmpty)
        continue
      }
      #expect(first.status == 200 && first.json["expiresAtTimestamp"] is Int)
      #expect(try ask().status == 200)
      let texts = try spooled(authority)
      #expect(texts.count == 1)
      let verified = try authority.post(
        "\(authority.verification)/api/verify",
        #"{"code":"\#(texts.first?["text"] ?? "")","accept":["user-report"],"nonce":"\#(nonce)"}"#,
        headers: key)
      #expect(verified.json["testtype"] as? String == "user-report")
      // Of the number nothing is kept that can be read.
      let database = authority.folder.path("data/verification/verification.sqlite")
      let bytes = try Data(contentsOf: database)
      #expect(bytes.range(of: Data("48123456789".utf8)) == nil)
    }
  }

  @Test("Settings of SMS that cannot work are refused in one line that names them")
  func refused() throws {
    for (sms, words) in [
      (#"{"region": "PL"}"#, "sms needs one of folder, file and gateway"),
      (#"{"region": "PL", "folder": "sms", "file": "a"}"#, "sms needs one of"),
      (#"{"region": "PL", "folder": "none"}"#, "sms.folder: there is no folder"),
      (#"{"region": "PL", "file": "no/a"}"#, "sms.file: there is no folder"),
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
        "sms.gateway.baseURL needs an address of https"
      ),
      (#"{"region": "PL", "gateway": {"baseURL": "https://a"}}"#, "sms.gateway.account is missing"),
    ] {
      let folder = try TemporaryFolder()
      try ServedAuthority.lay(
        ["verification/settings.json": "{\"sms\": \(sms)}"], folders: ["verification/sms"],
        in: folder)
      let run = try Run("verification-server", "settings", "--data", folder.path("data").path)
      #expect(run.status == 2 && run.errors.contains(words), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1 && run.output.isEmpty)
      #expect(run.errors.contains("settings.json"))
    }
    let folder = try TemporaryFolder()
    try ServedAuthority.lay(
      ["verification/settings.json": #"{"policy": {"allowsUserReport": true}}"#], in: folder)
    let run = try Run("verification-server", "settings", "--data", folder.path("data").path)
    #expect(run.status == 2 && run.errors.contains("policy.allowsUserReport"))
  }
}
