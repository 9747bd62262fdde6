// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import ServedSystem
import TestSupport
import Testing

/// `firebreak beacon` in processes of its own, on the controllers of two other projects.
@Suite("firebreak beacon", .needs(.process), .timeLimit(.minutes(Patience.minutes)))
struct BeaconCommandTests {
  private func json(_ line: Substring?) throws -> [String: Any] {
    let line = try #require(line)
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
    return try #require(object as? [String: Any])
  }

  @Test(
    "Two processes on two controllers send and receive a beacon, and the key matches the sighting",
    arguments: VirtualControllers.allCases)
  func exchange(_ controllers: VirtualControllers) async throws {
    let folder = try TemporaryFolder()
    try await controllers.withRunning { ports in
      let addresses = ports.map { "hci:127.0.0.1:\($0)" }
      try await ChildProcess.withRunning(
        try Run.product(),
        ["beacon", "advertise", "--radio", addresses[0], "--transmit-power", "4", "--json"]
      ) { sender in
        try await ChildProcess.withRunning(
          try Run.product(), ["beacon", "listen", "--radio", addresses[1]]
        ) { receiver in
          try await Patience.until {
            try receiver.output.split(separator: "\n").count >= 2 || receiver.status != nil
          }
          #expect(try await receiver.terminate() == 0)
          #expect(try await sender.terminate() == 0)
          try Data(try receiver.output.utf8).write(to: folder.path("heard.csv"))
          try Data(try sender.output.utf8).write(to: folder.path("sent"))
        }
      }
    }
    try await check(folder)
  }

  /// The row of the CSV has the identifier that was announced, and `match` finds the key in it.
  private func check(_ folder: TemporaryFolder) async throws {
    let sent = try String(contentsOf: folder.path("sent"), encoding: .utf8).split(separator: "\n")
    let rows = try String(contentsOf: folder.path("heard.csv"), encoding: .utf8)
      .split(separator: "\n")
    let beacon = try json(sent.dropFirst().first)
    #expect(rows.first == "rpi,aem,unix_time,rssi")
    #expect(
      rows.dropFirst().first?.hasPrefix("\(beacon["rpi"] ?? ""),\(beacon["aem"] ?? ""),") == true)
    let address = try #require(beacon["address"] as? String)
    #expect(address.split(separator: ":").count == 6)
    #expect(UInt8(address.prefix(2), radix: 16).map { $0 < 0b0100_0000 } == true)
    let result = try await match(keyLine: try #require(sent.first), in: folder)
    #expect(result["identifiersMatched"] as? Int == 1)
    #expect(result["sightingsMatched"] as? Int == rows.count - 1)
    let matches = try #require(result["matches"] as? [[String: Any]])
    #expect(matches.allSatisfy { $0["txPower"] as? Int == 4 })
  }

  /// The result of `match` for the printed key and the received beacons.
  private func match(keyLine: Substring, in folder: TemporaryFolder) async throws -> [String: Any] {
    let (keys, signingKey, zip) = (
      folder.path("keys.json"), folder.path("key.pem"), folder.path("keys.zip")
    )
    try Data("{\"temporaryExposureKeys\": [\(keyLine)]}".utf8).write(to: keys)
    try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: signingKey)
    let start = try #require(try json(keyLine)["rollingStartNumber"] as? Int) * 600
    let made = try await Run(
      "keyfile", "make", "--keys", keys.path, "--signing-key", signingKey.path, "--key-id", "260",
      "--key-version", "v1", "--region", "PL", "--start", "\(start)", "--end", "\(start + 86_400)",
      "--output", zip.path)
    try #require(made.status == 0, "\(made.errors)")
    let run = try await Run(
      "match", "--sightings", folder.path("heard.csv").path, "--json", zip.path)
    return try json(run.output.split(separator: "\n").first)
  }

  @Test("A controller that cannot be reached ends the command with 3 and one line")
  func unreachable() async throws {
    for command in ["advertise", "listen"] {
      let run = try await Run("beacon", command, "--radio", "hci:127.0.0.1:1")
      #expect(run.status == 3)
      #expect(run.errors.split(separator: "\n").count == 1)
      #expect(run.errors.contains("hci:127.0.0.1:1"))
      #expect(run.errors.contains("connection refused"))
    }
  }

  @Test(
    "A wrong radio or transmit power is rejected with 2 and one line",
    arguments: [
      (["listen", "--radio", "127.0.0.1:1"], "expected hci:HOST:PORT"),
      (["listen"], "--radio"),
      (["advertise", "--radio", "hci:user:x"], "number of a controller"),
      (["advertise", "--radio", "hci:user:0", "--transmit-power", "21"], "-50 to 20"),
    ])
  func badInput(arguments: [String], need: String) async throws {
    let run = try await Run(["beacon"] + arguments)
    #expect(run.status == 2)
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    #expect(run.errors.contains(need), "\(run.errors)")
  }

  @Test("A reader that closes the pipe ends the command", arguments: VirtualControllers.allCases)
  func closedPipe(_ controllers: VirtualControllers) async throws {
    try await controllers.withRunning { ports in
      let run = try await Shell.run(
        """
        exec 3> >(true)
        wait $!
        '\(try Run.product().path)' beacon advertise --radio hci:127.0.0.1:\(ports[0]) >&3
        """
      )
      #expect(run.status == 3)
      #expect(run.errors.isEmpty)
    }
  }
}
