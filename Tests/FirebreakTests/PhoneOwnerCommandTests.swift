// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import UnixSockets

/// Commands of the owner in processes of their own, without servers.
@Suite("Commands of a phone's owner", .needs(.process))
struct PhoneOwnerCommandTests {
  private let place: TemporaryFolder
  private let phone: PhoneFixture

  init() throws {
    place = try TemporaryFolder()
    let key = P256.Signing.PrivateKey().publicKey.pemRepresentation
    try Data(key.utf8).write(to: place.path("root-public-key.pem"))
    phone = try PhoneFixture(
      "phone", in: place.url,
      servers: ["verification": "http://127.0.0.1:9", "keys": "http://127.0.0.1:9"],
      authority: place.url.path)
  }

  @Test("History, exposures and notices are removed, one kind at a time, with and without JSON")
  func remove() async throws {
    _ = try await phone.json("enable")
    for kind in ["history", "exposures", "notices"] {
      #expect(try await phone.json("remove", kind)["removed"] as? String == kind)
      let run = try await phone.run("remove", kind)
      #expect(run.status == 0 && run.output == "Removed.\n", "\(run.errors)")
    }
    #expect(try await phone.run("remove", "keys").status == 2)
    // Nothing else was removed.
    #expect(try await phone.json("status")["enabled"] as? Bool == true)
  }

  @Test("A stay is recorded and reported, and is removed with everything else")
  func travel() async throws {
    #expect(try await phone.run("travel").status == 1)
    _ = try await phone.json("enable")
    let nothing = try await phone.json("travel")
    #expect(nothing["traveled"] is NSNull && nothing["region"] as? String == "PL")
    #expect(try await phone.json("travel", "--to", "PL")["traveled"] as? Bool == false)
    #expect(try await phone.json("travel", "--to", "DE")["traveled"] as? Bool == true)
    let run = try await phone.run("travel")
    #expect(run.status == 0 && run.output.contains("you have left PL"), "\(run.output)")
    #expect(try await phone.run("travel", "--to", "Poland").status == 2)
    let stays = try await phone.json("export-my-data")["stays"] as? [[String: Any]]
    #expect(stays?.compactMap { $0["region"] as? String } == ["PL", "DE"])
    _ = try await phone.json("remove", "everything")
    _ = try await phone.json("enable")
    #expect(try await phone.json("travel")["traveled"] is NSNull)
  }

  @Test(
    "An upload takes one day in the form of ISO 8601",
    arguments: [
      (["--tested-on", "2026-11-20"], true), (["--symptoms-since", "2026-11-20"], true),
      (["--tested-on", "20.11.2026"], false), (["--symptoms-since", "2026-02-30"], false),
      (["--tested-on", "2026-11-20", "--symptoms-since", "2026-11-19"], false),
    ])
  func day(options: [String], isAccepted: Bool) async throws {
    // There is no phone, so that an accepted command sends nothing.
    let data = place.path("none").path
    let run = try await Run(["phone", "upload", "A1B2C3", "--data", data] + options)
    #expect(run.status == 2)
    #expect(run.errors.contains("does not exist") == isAccepted, "\(run.errors)")
  }

  @Test("Starting over is refused while nothing is damaged")
  func startOver() async throws {
    let run = try await phone.run("start-over")
    #expect(run.status == 1 && run.errors.contains("Nothing is damaged"), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test("After everything is removed, earlier beacons are not listed any more")
  func sent() async throws {
    _ = try await phone.json("enable")
    try await phone.running { _ in
      try await Patience.until { try await phone.isSending() }
      #expect(try await phone.isSending())
      _ = try await phone.ask(.remove(.everything))
      #expect(try await !phone.isSending())
    }
  }

  @Test("A command with an option that the running phone does not have is refused in one line")
  func options() async throws {
    _ = try await phone.json("enable")
    let other = place.path("other.json")
    try FileManager.default.copyItem(at: place.path("phone.json"), to: other)
    try await phone.running { _ in
      let base = ["phone", "--data", phone.folder.path]
      let commands = [
        (["--developer", "--clock-offset", "60"], "--clock-offset"),
        (["--config", other.path], "--config"),
        (["--key-file", other.path], "--key-file"),
      ]
      for (options, name) in commands {
        let run = try await Run(base + options + ["status"])
        #expect(run.status == 2 && run.errors.contains(name), "\(run.errors)")
        #expect(run.errors.split(separator: "\n").count == 1)
      }
      #expect(try await Run(base + ["status"]).status == 0)
      #expect(try await phone.run("status").status == 0)
    }
  }

  @Test("A running phone makes its socket again when the file is removed")
  func removedSocket() async throws {
    try await phone.running { process in
      let socket = phone.folder.appendingPathComponent(PhoneSocket.name)
      for _ in 0..<2 {
        try FileManager.default.removeItem(at: socket)
        #expect(try await phone.json("status")["enabled"] as? Bool == false)
      }
      let facts = try FileManager.default.attributesOfItem(atPath: socket.path)
      #expect(facts[.posixPermissions] as? Int == 0o600)
      #expect(try process.errors.contains("phone.socket was removed"))
      #expect(try await process.terminate() == 0)
      #expect(!FileManager.default.fileExists(atPath: socket.path))
    }
  }

  @Test("A command tells that the running phone is of another version, each time, and fails")
  func otherVersion() async throws {
    _ = try await phone.json("enable")
    let listener = try UnixListener(
      at: phone.folder.appendingPathComponent(PhoneSocket.name).path)
    let end = ContinuousClock.now + .seconds(Patience.seconds)
    let answering = Task {
      for await connection in listener.connections {
        // The command ends when it cannot read the reply.
        try? await UnixSocket.offThread {
          _ = try connection.receive(atMost: 1 << 20, before: end)
          try connection.send(Array("busy\n".utf8), before: end)
        }
      }
    }
    defer { listener.stop() }
    for _ in 1...2 {
      let run = try await phone.run("status")
      #expect(run.status == 3 && run.output.isEmpty)
      #expect(run.errors.contains(PhoneSocketError.unreadable.rawValue), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
    listener.stop()
    await answering.value
  }

  @Test("A text that is too long for a PIN is refused as one, with and without a running phone")
  func longPIN() async throws {
    _ = try await phone.json("enable")
    func check() async throws {
      for length in [11, PhoneMessageLimit.pinBytesMax, PhoneMessageLimit.pinBytesMax + 1] {
        let run = try await phone.run("upload", String(repeating: "A", count: length))
        #expect(run.status == 2 && run.errors.contains("A PIN has six to ten"), "\(run.errors)")
      }
    }
    try await check()
    try await phone.running { _ in try await check() }
  }

  @Test("The sealing key comes from the option, then the credential, then the configuration")
  func credential() async throws {
    _ = try await phone.json("enable")
    let credentials = place.path("credentials")
    try FileManager.default.createDirectory(at: credentials, withIntermediateDirectories: true)
    let credential = credentials.appendingPathComponent("sealing-key")
    let base = [
      "phone", "--data", phone.folder.path, "--config", place.path("phone.json").path, "--json",
    ]
    func status(_ options: String...) async throws -> ChildProcess.Result {
      try await ChildProcess.run(
        try Run.product(), base + options + ["status"],
        environment: Run.environment(adding: ["CREDENTIALS_DIRECTORY": credentials.path]))
    }
    let missing = try await status()
    #expect(missing.status == 2 && missing.errors.contains("no sealing key"), "\(missing.errors)")
    // systemd grants access by a list, which shows as a right of the group.
    try FileManager.default.copyItem(atPath: phone.key, toPath: credential.path)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o440], ofItemAtPath: credential.path)
    let good = try await status()
    #expect(good.status == 0 && good.output.contains("\"enabled\":true"), "\(good.errors)")
    try FileManager.default.removeItem(at: credential)
    try Data(repeating: 7, count: 32).write(to: credential)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o440], ofItemAtPath: credential.path)
    let wrong = try await status()
    #expect(wrong.status == 2 && wrong.errors.contains("does not belong"), "\(wrong.errors)")
    #expect(try await status("--key-file", phone.key).status == 0)
    try phone.configure(keyFile: phone.key)
    #expect(try await status().status == 2)
    try FileManager.default.removeItem(at: credential)
    #expect(try await status().status == 0)
  }
}

extension PhoneFixture {
  /// True if the running phone has sent a beacon.
  fileprivate func isSending() async throws -> Bool {
    let sent = try await facts(.sent)["sent"] as? [Any]
    return sent?.isEmpty == false
  }

  /// Adds the path of the sealing key to the configuration.
  fileprivate func configure(keyFile: String) throws {
    var fields =
      try JSONSerialization.jsonObject(with: Data(contentsOf: configuration)) as? [String: Any]
      ?? [:]
    fields["keyFile"] = keyFile
    try JSONSerialization.data(withJSONObject: fields).write(to: configuration)
  }
}
