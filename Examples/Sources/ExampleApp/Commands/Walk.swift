// SPDX-License-Identifier: Apache-2.0
import Foundation
import Subprocess

/// Runs the whole example with three phones and a server. Each app launch is a separate process.
struct Walk {
  /// A command with an unexpected result.
  struct Failure: LocalizedError {
    let errorDescription: String?
  }

  static func run(_ arguments: inout Arguments) async throws {
    let given = arguments.nextIfAny()
    let folder =
      given.map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("walk-\(UUID().uuidString)")
    guard !FileManager.default.fileExists(atPath: folder.path) else {
      throw Arguments.Problem("\(folder.path) exists; name a new folder")
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { if given == nil { try? FileManager.default.removeItem(at: folder) } }
    if let program = arguments.file("firebreak") {
      try await ServerProcess.withRunning(program, in: folder) { server in
        try await Walk(in: folder, server: server).run(with: server)
      }
    } else {
      try await Walk(in: folder).run()
    }
    Terminal.print("\nThe walk succeeded.")
  }

  private let folder: URL
  /// Firebreak's servers; `nil` for a server in a folder.
  private let server: ServerProcess?

  private init(in folder: URL, server: ServerProcess? = nil) {
    self.folder = folder
    self.server = server
  }

  /// Ann and Bob meet at noon two days ago. Ann uploads with a code of the servers, and Bob downloads what they publish.
  private func run(with server: ServerProcess) async throws {
    let now = Date()
    let midnight = (now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400
    let met = Date(timeIntervalSince1970: midnight - 1.5 * 86_400).ISO8601Format()
    let today = now.ISO8601Format()
    for name in ["ann", "bob"] {
      try await phone(name, "onboard", "--yes", at: met, shows: "Exposure notification: on")
    }
    let recording = folder.appendingPathComponent("air.json").path
    try await phone("ann", "live", "30", "--sends", recording, at: met)
    try await phone("bob", "live", "30", "--hears", recording, at: met)
    let (code, day) = (try await server.issueCode(), String(today.prefix(10)))
    try await phone(
      "ann", "enter", "ABCDEF", day, "--yes", at: today, fails: true, shows: "not known")
    for _ in 1...2 {
      try await phone("ann", "enter", code, day, "--yes", at: today, shows: ": shared")
    }
    try await server.waitForFile()
    let output = try await phone(
      "bob", "background", "--yes", at: today, shows: "(notification) You may have been exposed")
    try expect(output.contains("2 days ago, at least 30 minutes"), "no exposure", output)
    let again = try await phone(
      "bob", "background", "--yes", at: today, shows: "The check is done.")
    try expect(!again.contains("(notification)"), "a second notification", again)
  }

  private func run() async throws {
    _ = try await administer("keys", at: "2026-03-10T08:00:00Z")
    try await onboard()
    try await recordEncounter()
    let published = try await uploadKeys()
    try await checkWithDeadNetwork(at: published)
    try await check(at: published)
  }

  /// Ann and Bob enable notifications, Bob at the second chance; Cleo has no Bluetooth.
  private func onboard() async throws {
    try await phone("ann", "onboard", "--yes", at: noon, shows: "Exposure notification: on")
    try await phone(
      "bob", "onboard", "--answers", "yny", "--yes", at: noon, shows: "Exposure notification: on")
    try await phone(
      "cleo", "onboard", "--yes", "--bluetooth-off", at: noon, shows: "\nSwitch Bluetooth on.")
    try await phone("cleo", "status", at: noon, shows: "Exposure notification: on")
  }

  /// Ann and Bob are together for half an hour; Cleo is at home.
  private func recordEncounter() async throws {
    let recording = folder.appendingPathComponent("air.json").path
    try await phone("ann", "live", "30", "--sends", recording, at: noon)
    try await phone("bob", "live", "30", "--hears", recording, at: noon)
    try await phone("cleo", "live", "30", at: noon)
  }

  /// Ann has a positive test. Her code is valid for one upload. Her app is killed after the server has
  /// accepted the keys; entering the code again completes the upload.
  private func uploadKeys() async throws -> String {
    let day = "2026-03-11"
    try await phone(
      "ann", "enter", "123", day, at: "\(day)T09:00:00Z", fails: true, shows: "six digits")
    let code = try await administer("issue-code", at: "\(day)T09:00:00Z")
    try await phone(
      "ann", "enter", code, day, "--yes", "--killed-after-post", at: "\(day)T09:00:00Z",
      fails: true)
    for _ in 1...2 {
      try await phone("ann", "enter", code, day, "--yes", at: "\(day)T09:05:00Z", shows: ": shared")
    }
    try await phone(
      "cleo", "enter", code, day, at: "\(day)T09:30:00Z", fails: true, shows: "has been used")
    return "\(day)T12:00:00Z"
  }

  /// Bob's network does not respond and his Bluetooth is off. The app reports both.
  private func checkWithDeadNetwork(at time: String) async throws {
    let output = try await phone(
      "bob", "background", "--network-dead", "--bluetooth-off", at: time,
      shows: "no more time")
    try expect(output.contains("Bluetooth is off"), "no Bluetooth notification", output)
  }

  /// Bob is notified once; Cleo is not.
  private func check(at time: String) async throws {
    let output = try await phone(
      "bob", "background", "--yes", at: time, shows: "(notification) You may have been exposed")
    try expect(
      output.contains("  yesterday, at least 30 minutes"), "no exposure in the list", output)
    try expect(!output.contains("On the screen: Bluetooth"), "Bluetooth is on again", output)
    let again = try await phone("bob", "background", "--yes", at: time, shows: "The check is done.")
    try expect(!again.contains("(notification)"), "a second notification", output)
    try await phone("cleo", "background", "--yes", at: time, shows: "  No exposures.")
  }

  private let noon = "2026-03-10T12:00:00Z"

  @discardableResult
  private func phone(
    _ name: String, _ words: String..., at time: String, fails: Bool = false,
    shows expected: String = ""
  ) async throws -> String {
    Terminal.print("\n\(time) \(name): \(words.joined(separator: " "))")
    let phone = ["phone", folder.appendingPathComponent(name).path, "--at", time]
    let (output, status) = try await launch(phone + serverOptions + words)
    Terminal.print(output.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
    try expect(status.isSuccess != fails, "the exit status is \(status)", output)
    try expect(output.contains(expected) || expected.isEmpty, "missing text: \(expected)", output)
    return output
  }

  /// The options of a phone that name its health authority.
  private var serverOptions: [String] {
    guard let server else { return ["--server", folder.appendingPathComponent("server").path] }
    return [
      "--verification-server", server.addresses.verification.absoluteString, "--key-server",
      server.addresses.keys.absoluteString, "--region", server.regionFile.path,
    ]
  }

  private func administer(_ words: String..., at time: String) async throws -> String {
    let path = folder.appendingPathComponent("server").path
    let (output, status) = try await launch(["server", path, "--at", time] + words)
    try expect(status.isSuccess, "the server's exit status is \(status)", output)
    return output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func expect(_ isTrue: Bool, _ problem: String, _ output: String) throws {
    if !isTrue { throw Failure(errorDescription: "\(problem); the output is:\n\(output)") }
  }
}

/// Runs this program in a new process and returns its combined output and its exit status.
private func launch(_ words: [String]) async throws -> (output: String, status: TerminationStatus) {
  let result = try await Subprocess.run(
    .path("/proc/self/exe"), arguments: .init(words), output: .string(limit: 1 << 20),
    error: .combinedWithOutput)
  return (result.standardOutput, result.terminationStatus)
}
