// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneProcess
import Secrets
import TestSupport
import Testing

/// `firebreak phone` on a folder of its own, for a health authority of the test.
package final class PhoneFixture: Sendable {
  /// The folder of the phone.
  package let folder: URL
  /// The file of the sealing key.
  package let key: String
  package let configuration: URL

  /// - Parameters:
  ///   - place: The folder for the folder of the phone, its configuration and its key.
  ///   - authority: The folder of the servers, with the public root key.
  package init(_ name: String, in place: URL, servers: [String: String], authority: String) throws {
    folder = place.appendingPathComponent(name)
    key = place.appendingPathComponent("\(name).key").path
    configuration = place.appendingPathComponent("\(name).json")
    try configure(servers: servers, authority: authority)
  }

  /// Writes the configuration, with `more` fields.
  package func configure(
    servers: [String: String], authority: String, more: [String: String] = [:]
  ) throws {
    let fields: [String: any Sendable] = [
      "verificationServer": servers["verification"] ?? "", "keyServer": servers["keys"] ?? "",
      "rootKey": authority + "/root-public-key.pem", "regions": ["PL"],
      "appID": "pl.gov.mc.protegosafe", "platform": "android", "radio": "none",
    ].merging(more) { $1 }
    try JSONSerialization.data(withJSONObject: fields).write(to: configuration)
  }

  /// The arguments of a command; the options are before and after its name.
  package func arguments(_ command: [String], clockOffset: Int = 0) -> [String] {
    ["phone", "--data", folder.path, "--config", configuration.path, "--developer"]
      + ["--create-key", key, "--clock-offset", "\(clockOffset)"] + command
  }

  /// Runs a command to its end.
  package func run(_ command: String..., clockOffset: Int = 0) async throws -> Run {
    try await Run(arguments(command, clockOffset: clockOffset))
  }

  /// The result of a command in JSON; an issue if it fails.
  package func json(_ command: String..., clockOffset: Int = 0) async throws -> [String: Any] {
    let run = try await Run(arguments(command + ["--json"], clockOffset: clockOffset))
    #expect(run.status == 0, "\(command): \(run.errors)")
    return try run.json() as? [String: Any] ?? [:]
  }

  /// Runs `firebreak phone run` with `options` while `body` runs. `body` may kill it.
  package func running<Value: Sendable>(
    _ options: [String] = [], clockOffset: Int = 0, radio: String? = nil,
    _ body: nonisolated(nonsending) (ChildProcess) async throws -> Value
  ) async throws -> Value {
    let command = ["run"] + options + (radio.map { ["--radio", $0] } ?? [])
    return try await ChildProcess.withRunning(
      try Run.product(), arguments(command, clockOffset: clockOffset)
    ) { process in
      let line = try await process.firstLine()
      let errors = try process.errors
      try #require(line != nil, "\(errors)")
      return try await body(process)
    }
  }

  /// Asks the running phone over its socket.
  package func ask(_ operation: PhoneOperation, pin: String = "") async throws -> PhoneReply {
    let request = PhoneRequest(operation, pin: .init(copying: pin.utf8))
    return try #require(try await PhoneSocket.ask(request, in: folder, seconds: Patience.seconds))
  }

  /// The result of an operation of the running phone.
  package func facts(_ operation: PhoneOperation) async throws -> [String: Any] {
    let reply = try await ask(operation)
    let json = try JSONSerialization.jsonObject(with: Data((reply.json ?? "{}").utf8))
    return json as? [String: Any] ?? [:]
  }

  /// Checks twice: the first check may be one of the schedule that began earlier.
  package func check() async throws -> PhoneReply {
    _ = try await ask(.check)
    return try await ask(.check)
  }
}

extension PhoneFixture {
  /// The number of beacons that the running phone has stored.
  package func beaconsReceived() async throws -> Int {
    let days = try await facts(.exportMyData)["received"] as? [[String: Any]]
    return (days ?? []).compactMap { $0["beacons"] as? Int }.reduce(0, +)
  }
}

extension ServedAuthority {
  /// Files without padding.
  package static let unpaddedExports = [
    "keys/settings.json": #"{"minimumKeys":0,"paddingRange":0}"#
  ]

  /// A new PIN.
  package func pin() async throws -> String {
    let tokens = try await run("verification-server", "api-token").output.split(separator: "\n")
    let response = try await post(
      "\(verification)/generateCode", #"{"data":{}}"#,
      headers: ["api-token": tokens.first.map(String.init) ?? ""])
    return try #require(response.json["result"] as? String)
  }

  /// The addresses of the servers.
  package var addresses: [String: String] { ["verification": verification, "keys": keys] }
}
