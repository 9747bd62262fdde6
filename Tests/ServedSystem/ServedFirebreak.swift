// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import TextEncodings
import World

/// `firebreak serve` in a process of its own, on free ports, until the last reference to it is gone.
package final class ServedFirebreak: Sendable {
  /// The file with its stdout.
  package let output: URL
  /// The folder of the servers.
  package let data: String
  private let program: BackgroundProcess

  /// Starts the servers, with at most `descriptorsMax` file descriptors if it is given.
  package init(
    folder: TemporaryFolder, _ arguments: [String] = [], environment: [String: String] = [:],
    descriptorsMax: Int? = nil
  ) async throws {
    output = folder.path("output")
    data = folder.path("data").path
    // An earlier server on the same folder has left its addresses there.
    try? FileManager.default.removeItem(at: output)
    let product = try Run.product()
    let serve = ["serve", "--port", "0", "--json", "--data", data] + arguments
    let limited = descriptorsMax.map { ["--nofile=\($0):\($0)", product.path] + serve }
    program = try await BackgroundProcess(
      limited == nil ? product : URL(fileURLWithPath: "/usr/bin/prlimit"), limited ?? serve,
      environment: Run.environment(adding: environment), output: output)
  }

  /// The process.
  package var processIdentifier: Int32 { program.process.processIdentifier }

  /// The memory of the process in KiB: a line of `/proc/PID/status`, such as `VmRSS` or `VmHWM`.
  package func memory(_ line: String = "VmRSS") throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8)
    let found = status.split(separator: "\n").first { $0.hasPrefix(line + ":") }
    return try #require(
      found?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }

  /// Sends a signal to the process.
  package func send(_ signal: Int32) { program.process.send(signal) }

  /// The addresses on the first line of stdout, by server.
  package func addresses() async throws -> [String: String] {
    guard let line = try await program.process.firstLine(),
      let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      json["ready"] as? Bool == true
    else { return [:] }
    return json.compactMapValues { $0 as? String }
  }

  /// The text on stderr so far.
  package func errors() throws -> String { try program.process.errors }

  /// Requests a path of a server. The status is 0 if it does not respond.
  package func get(_ address: String?, _ path: String) async throws -> (status: Int, body: Data) {
    let response = try await LoopbackClient.sendOnce("GET", try #require(address) + path)
    return (response.status, response.body)
  }

  /// Sends SIGTERM, waits for the end and returns the exit status.
  package func stop() async throws -> Int32 { try await program.process.terminate() }
}

/// The health authority's servers, started with the given files in their folder.
package final class ServedAuthority: Sendable {
  package struct Response {
    package let status: Int
    /// Each header as `name: value` on a line of its own, in lower case.
    package let headers: String
    package let json: [String: Any]

    package var error: [String: Any]? { json["error"] as? [String: Any] }
    package var code: String? { json["errorCode"] as? String }
  }

  package let folder: TemporaryFolder
  package let servers: ServedFirebreak
  package let verification: String
  package let keys: String

  /// Starts the servers with `files`, texts by path in their folder, with mode 0600.
  ///
  /// - Parameter place: The place of the folder, that of servers that were stopped; `nil` for a new one.
  package init(
    _ files: [String: String] = [:], folders: [String] = [], arguments: [String] = [],
    environment: [String: String] = [:], descriptorsMax: Int? = nil,
    in place: TemporaryFolder? = nil
  ) async throws {
    folder = try place ?? TemporaryFolder()
    try Self.write(files, folders: folders, in: folder)
    servers = try await ServedFirebreak(
      folder: folder, arguments, environment: environment, descriptorsMax: descriptorsMax)
    let addresses = try await servers.addresses()
    verification = addresses["verification"] ?? ""
    keys = addresses["keys"] ?? ""
    let errors = try servers.errors()
    #expect(addresses.count == 3, "\(errors)")
  }

  package static func write(
    _ files: [String: String], folders: [String] = [], in folder: TemporaryFolder,
    permissions: Int = 0o600
  ) throws {
    for name in ["verification", "keys"] + folders {
      try FileManager.default.createDirectory(
        at: folder.path("data/\(name)"), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    for (path, text) in files {
      let file = folder.path("data/\(path)")
      try Data(text.utf8).write(to: file)
      try FileManager.default.setAttributes(
        [.posixPermissions: permissions], ofItemAtPath: file.path)
    }
  }

  /// Prepares the folders of all servers as an operator does before the first start: with settings. Commands then
  /// create what is missing. Existing settings are kept.
  package static func prepare(_ folder: TemporaryFolder, _ name: String = "data") throws {
    let files = FileManager.default
    try files.createDirectory(
      at: folder.path("\(name)/exports"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755])
    for server in ["verification", "keys", "console"] {
      let own = folder.path("\(name)/\(server)")
      try files.createDirectory(
        at: own, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let settings = own.appendingPathComponent("settings.json")
      if !files.fileExists(atPath: settings.path) { try Data("{}".utf8).write(to: settings) }
    }
  }

  /// Prepares the folders of all servers, with a verification server that has keys.
  package static func prepareWithTokenKeys(_ folder: TemporaryFolder) async throws {
    try prepare(folder)
    let add = ["verification-server", "signing-key", "add", "--data", folder.path("data").path]
    let run = try await Run(add)
    #expect(run.status == 0, "\(run.errors)")
  }

  /// Runs an administration command on the same folder.
  package func run(_ arguments: String...) async throws -> Run {
    try await Run(arguments + ["--data", servers.data])
  }

  /// A new API key of `type`.
  package func apiKey(_ type: String) async throws -> String {
    try await run("verification-server", "api-key", "add", "--type", type).output
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Sends a JSON body. The status is 0 if the server does not respond.
  package func post(_ url: String, _ body: String, headers: [String: String] = [:]) async throws
    -> Response
  {
    let response = try await LoopbackClient.sendOnce(
      "POST", url,
      headers: [("content-type", "application/json")] + headers.map { ($0.key, $0.value) },
      body: Data(body.utf8))
    // Some errors have no body.
    let json = try? JSONSerialization.jsonObject(with: response.body)
    return Response(
      status: response.status, headers: response.headerText.lowercased(),
      json: json as? [String: Any] ?? [:])
  }

  /// An upload token for a new code.
  package func token() async throws -> String {
    let apiToken = try await run("verification-server", "api-token").output
      .split(separator: "\n").first.map(String.init)
    let code = try await post(
      "\(verification)/generateCode", #"{"data":{}}"#, headers: ["api-token": apiToken ?? ""])
    let response = try await post(
      "\(verification)/getAccessToken",
      #"{"data":{"code":"\#(code.json["result"] as? String ?? "")"}}"#)
    return (response.json["result"] as? [String: Any])?["accessToken"] as? String ?? ""
  }

  /// Uploads one key of two days ago, with a device verification payload if `isVerified`. The servers release a key of
  /// yesterday two hours after midnight.
  ///
  /// - Parameter server: The address of the key server or of a proxy before it; nil for that of this authority.
  package func upload(
    token: String, at server: String? = nil, platform: String = "ios", isVerified: Bool = true,
    app: String = "pl.gov.mc.protegosafe", headers: [String: String] = [:],
    _ change: (inout UploadRequest) -> Void = { _ in }
  ) async throws -> Response {
    let now = SystemClock().now.timeIntervalSince1970
    let key = UploadKey(
      key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
      rollingStartNumber: (UInt32(now / 86_400) - 2) * 144, transmissionRisk: 3)
    var request = UploadRequest(
      data: UploadPayload(
        temporaryExposureKeys: [key], regions: ["PL"], platform: platform, appPackageName: app,
        verificationPayload: token))
    if isVerified {
      request.data.deviceVerificationPayload =
        DeviceVerificationPayload(
          deviceToken: Data("device".utf8),
          transactionID: DeviceVerificationPayload.transactionID(
            appPackageName: app, keys: [key], regions: ["PL"]),
          timestampMilliseconds: Int64(now * 1_000)
        ).base64
    }
    change(&request)
    return try await post(
      "\(server ?? keys)/uploadDiagnosisKeys",
      String(decoding: try JSONEncoder().encode(request), as: UTF8.self), headers: headers)
  }

  /// A part of a compact token: 0 for the header, 1 for the claims.
  package static func part(_ index: Int, of token: String) throws -> [String: Any] {
    let parts = token.split(separator: ".")
    let text = try #require(parts.dropFirst(index).first)
    let data = try #require(Data(base64URL: text))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }
}
