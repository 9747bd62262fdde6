// SPDX-License-Identifier: Apache-2.0
import Foundation
import Subprocess

/// `firebreak serve` in a process of its own, with its data in a folder.
struct ServerProcess {
  let addresses: FirebreakServers.Addresses
  /// The region configuration for phones, with the public key of the server.
  let regionFile: URL
  private let program: String
  private let data: String

  private struct Ready: Decodable {
    let verification: URL
    let keys: URL
  }

  private struct SigningKeys: Decodable {
    struct Key: Decodable {
      let keyID: String
      let keyVersion: String?
      let publicKey: String
    }

    let keys: [Key]
  }

  /// Runs the servers of `program` while `body` runs.
  static func withRunning(
    _ program: URL, in folder: URL, _ body: (ServerProcess) async throws -> Void
  ) async throws {
    let data = folder.appendingPathComponent("servers")
    try writeSettings(to: data.appendingPathComponent("keys"))
    let arguments = ["serve", "--port", "0", "--json", "--data", data.path]
    _ = try await Subprocess.run(
      .path(.init(program.path)), arguments: .init(arguments), input: .none, output: .sequence,
      error: .discarded
    ) { execution in
      var line: String?
      for try await text in execution.standardOutput.strings() {
        line = text
        break
      }
      let ready = try JSONDecoder().decode(Ready.self, from: Data((line ?? "").utf8))
      let server = ServerProcess(
        addresses: .init(verification: ready.verification, keys: ready.keys),
        regionFile: folder.appendingPathComponent("region.json"), program: program.path,
        data: data.path)
      try await server.writeRegion()
      try await body(server)
      try execution.send(signal: .terminate)
    }
  }

  /// Files come out every second, without padding; a real server collects keys for hours.
  private static func writeSettings(to folder: URL) throws {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let settings = """
      {"exportPeriodSeconds": 1, "minimumKeys": 0, "paddingRange": 0,
       "appPackages": ["org.example.firebreak-example"]}
      """
    try PrivateFile.write(Data(settings.utf8), to: folder.appendingPathComponent("settings.json"))
  }

  /// Writes the configuration that a phone gets from its maker.
  private func writeRegion() async throws {
    let listed = try await administer("key-server", "signing-key", "list", "--json")
    let keys = try JSONDecoder().decode(SigningKeys.self, from: Data(listed.utf8)).keys
    guard let key = keys.first else {
      throw Walk.Failure(errorDescription: "the server has no signing key")
    }
    try JSONEncoder().encode([
      "countryCode": LocalServer.region.name, "regionIdentifier": key.keyID,
      "publicKeyVersion": key.keyVersion ?? "", "publicKey": key.publicKey,
    ]).write(to: regionFile)
  }

  /// Issues a code for one positive test.
  func issueCode() async throws -> String {
    let token = try await administer("verification-server", "api-token")
    return try await FirebreakServers(at: addresses).issueCode(
      apiToken: token.split(separator: "\n").first.map(String.init) ?? "")
  }

  /// Waits until a file is published, for at most `seconds`.
  func waitForFile(seconds: Int = 60) async throws {
    let servers = FirebreakServers(at: addresses)
    for _ in 0..<seconds * 10 {
      if try await !servers.keyFiles().isEmpty { return }
      try await Task.sleep(nanoseconds: 100_000_000)
    }
    throw Walk.Failure(errorDescription: "the server has published no file")
  }

  private func administer(_ words: String...) async throws -> String {
    let result = try await Subprocess.run(
      .path(.init(program)), arguments: .init(words + ["--data", data]),
      output: .string(limit: 1 << 16), error: .discarded)
    guard result.terminationStatus.isSuccess else {
      throw Walk.Failure(errorDescription: "\(words.joined(separator: " ")) has failed")
    }
    return result.standardOutput
  }
}
