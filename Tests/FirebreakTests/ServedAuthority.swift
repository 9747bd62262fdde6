import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

/// The health authority's servers as they are started, with what an official has laid into their folder before.
final class ServedAuthority {
  /// What came back.
  struct Answer {
    let status: Int
    let headers: String
    let json: [String: Any]

    var error: [String: Any]? { json["error"] as? [String: Any] }
    var code: String? { json["errorCode"] as? String }
  }

  let folder: TemporaryFolder
  let servers: ServedFirebreak
  let verification: String
  let keys: String

  /// Starts the servers on `files`, text by path in their folder, each for its owner only.
  init(_ files: [String: String] = [:], folders: [String] = []) async throws {
    folder = try TemporaryFolder()
    try Self.lay(files, folders: folders, in: folder)
    servers = try ServedFirebreak(folder: folder)
    let addresses = try await servers.addresses()
    verification = addresses["verification"] ?? ""
    keys = addresses["keys"] ?? ""
    let said = try servers.errors()
    #expect(addresses.count == 2, "\(said)")
  }

  deinit {
    servers.kill()
  }

  static func lay(
    _ files: [String: String], folders: [String] = [], in folder: TemporaryFolder,
    rights: Int = 0o600
  ) throws {
    for name in ["verification", "keys"] + folders {
      try FileManager.default.createDirectory(
        at: folder.path("data/\(name)"), withIntermediateDirectories: true)
    }
    for (path, text) in files {
      let file = folder.path("data/\(path)")
      try Data(text.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: file.path)
    }
  }

  /// Runs a command of the administration on the same folder.
  func run(_ arguments: String...) throws -> Run {
    try Run(arguments + ["--data", servers.data])
  }

  /// A new API key of `type`.
  func apiKey(_ type: String) throws -> String {
    try run("verification-server", "api-key", "add", "--type", type).output
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  func post(_ url: String, _ body: String, headers: [String: String] = [:]) throws -> Answer {
    let (file, head) = (folder.path("question"), folder.path("head"))
    try Data(body.utf8).write(to: file)
    let named = headers.map { "-H '\($0.key): \($0.value)'" }.joined(separator: " ")
    let run = try Shell.run(
      "curl -s -D '\(head.path)' -w '\\n%{http_code}' -H 'content-type: application/json' \(named)"
        + " --data-binary '@\(file.path)' '\(url)'")
    let lines = run.output.split(separator: "\n")
    let json = try? JSONSerialization.jsonObject(with: Data((lines.first ?? "").utf8))
    return Answer(
      status: lines.last.flatMap { Int($0) } ?? 0,
      headers: try String(contentsOf: head, encoding: .utf8).lowercased(),
      json: json as? [String: Any] ?? [:])
  }

  /// A token for one upload, from a code that was issued for it.
  func token() throws -> String {
    let apiToken = try run("verification-server", "api-token").output
      .split(separator: "\n").first.map(String.init)
    let code = try post(
      "\(verification)/generateCode", #"{"data":{}}"#, headers: ["api-token": apiToken ?? ""])
    let answer = try post(
      "\(verification)/getAccessToken",
      #"{"data":{"code":"\#(code.json["result"] as? String ?? "")"}}"#)
    return (answer.json["result"] as? [String: Any])?["accessToken"] as? String ?? ""
  }

  /// An upload of one key that lived yesterday; with a device verification payload where `proves`.
  func upload(
    token: String, platform: String = "ios", proves: Bool = true,
    app: String = "pl.gov.mc.protegosafe", headers: [String: String] = [:],
    _ change: (inout UploadRequest) -> Void = { _ in }
  ) throws -> Answer {
    let now = SystemClock().now.timeIntervalSince1970
    let key = UploadKey(
      key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
      rollingStartNumber: UInt32(now / 86_400) * 144 - 144, transmissionRisk: 3)
    var request = UploadRequest(
      data: UploadPayload(
        temporaryExposureKeys: [key], regions: ["PL"], platform: platform, appPackageName: app,
        verificationPayload: token))
    if proves {
      request.data.deviceVerificationPayload =
        DeviceVerificationPayload(
          deviceToken: Data("device".utf8),
          transactionID: DeviceVerificationPayload.transactionID(
            appPackageName: app, keys: [key], regions: ["PL"]),
          timestampMilliseconds: Int64(now * 1_000)
        ).base64
    }
    change(&request)
    return try post(
      "\(keys)/uploadDiagnosisKeys",
      String(decoding: try JSONEncoder().encode(request), as: UTF8.self), headers: headers)
  }

  /// A part of a compact token: 0 its header, 1 its claims.
  static func part(_ index: Int, of token: String) throws -> [String: Any] {
    let parts = token.split(separator: ".")
    let text = try #require(parts.dropFirst(index).first).replacing("-", with: "+")
      .replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
    let data = try #require(Data(base64Encoded: text + padding))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }
}
