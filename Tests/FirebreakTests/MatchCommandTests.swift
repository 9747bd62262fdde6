// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import ServedSystem
import TestSupport
import Testing
import TextEncodings

@Suite(
  "firebreak match", .needs(.process), .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
struct MatchCommandTests {
  private let folder: TemporaryFolder
  private let zip: String
  private let publicKey = SharedData.url("keyfiles/google-server-example/public.pem").path
  private let otherKey = SharedData.url("keyfiles/google-sample/public-310-v1.pem").path

  /// The key of the Cryptography Specification's vectors, in one signed file with two others.
  init() async throws {
    folder = try TemporaryFolder()
    let keys = folder.path("keys.json")
    let published = Data(Self.bytes("75c734c6dd1a782de7a965da5eb93125")).base64EncodedString()
    let others = [8, 9].map { Data(repeating: $0, count: 16).base64EncodedString() }
    try """
    {"temporaryExposureKeys": [
      {"key": "\(published)", "rollingStartNumber": 2642976, "rollingPeriod": 144},
      {"key": "\(others[0])", "rollingStartNumber": 2642976, "rollingPeriod": 2},
      {"key": "\(others[1])", "rollingStartNumber": 2642976}]}
    """.write(to: keys, atomically: true, encoding: .utf8)
    zip = folder.path("keys.zip").path
    let made = try await Run(
      "keyfile", "make", "--keys", keys.path, "--signing-key",
      SharedData.url("keyfiles/google-server-example/private.pem").path, "--key-id", "260",
      "--key-version", "v1", "--region", "PL", "--start", "1585785600", "--end", "1585872000",
      "--output", zip)
    try #require(made.status == 0, "\(made.errors)")
  }

  private static func bytes(_ hex: String) -> [UInt8] { [UInt8](hexadecimal: hex) ?? [] }

  private func csv(_ rows: String..., header: String = "rpi,aem,unix_time,rssi") throws -> String {
    let file = folder.path("sightings.csv")
    let text = ([header] + rows).joined(separator: "\n") + "\n"
    try text.write(to: file, atomically: true, encoding: .utf8)
    return file.path
  }

  /// The second identifier of the vectors with its metadata: 8 dBm.
  private static let beacon = "3c9a1de5dd6b02afa7fded7b570b3e56,c29211b1"
  private static let start = 1_585_785_600 + 600

  @Test("A matched row has the documented fields, and a row of another key does not match")
  func shape() async throws {
    let other = "000102030405060708090a0b0c0d0e0f,00000000,\(Self.start),-50"
    let run = try await Run(
      "match", "--json", "--sightings", try csv("\(Self.beacon),\(Self.start),-60", other),
      "--public-key", publicKey, zip)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    let report = try #require(try run.json())
    #expect(report["keysRead"] as? Int == 3)
    #expect(report["keysMatched"] as? Int == 1)
    #expect(report["identifiersMatched"] as? Int == 1)
    #expect(report["sightingsMatched"] as? Int == 1)
    #expect((report["nanosecondsPerKey"] as? Double ?? 0) > 0)
    let matches = try #require(report["matches"] as? [[String: Any]])
    #expect(matches.count == 1)
    #expect(matches[0]["key"] as? String == "75c734c6dd1a782de7a965da5eb93125")
    #expect(matches[0]["intervalNumber"] as? Int == 2_642_977)
    #expect(matches[0]["time"] as? Int == Self.start)
    #expect(matches[0]["rssi"] as? Int == -60)
    #expect(matches[0]["txPower"] as? Int == 8)
    #expect(matches[0]["version"] as? String == "1.0")
    #expect(matches[0]["attenuation"] as? Int == 68)
    #expect(matches[0].count == 7)
  }

  @Test(
    "Rows are sorted by time, repeated rows count twice, and the tolerance is exactly two hours")
  func tolerance() async throws {
    // Twelve intervals before and after the identifier's own, and one second beyond each.
    let (first, last) = (Self.start - 7_200, Self.start + 7_800 - 1)
    let rows = [last + 1, last, Self.start, Self.start, first, first - 1].map {
      "\(Self.beacon),\($0),-60"
    }
    let file = folder.path("many.csv")
    try (["rpi,aem,unix_time,rssi"] + rows).joined(separator: "\r\n")
      .write(to: file, atomically: true, encoding: .utf8)
    let run = try await Run(
      "match", "--json", "--sightings", file.path, "--public-key", publicKey, zip, zip)
    let report = try #require(try run.json())
    let times = (report["matches"] as? [[String: Any]])?.compactMap { $0["time"] as? Int }
    #expect(times == [first, Self.start, Self.start, last])
    #expect(report["sightingsMatched"] as? Int == 4)
    #expect(report["keysRead"] as? Int == 6)
    #expect(report["keysMatched"] as? Int == 1)
  }

  @Test("An implausible transmit power is reported, not dropped")
  func transmitPower() async throws {
    // One bit of the sealed metadata flipped: 8 dBm become -120.
    let row = "3C9A1DE5DD6B02AFA7FDED7B570B3E56,c21211b1,\(Self.start),-60"
    let run = try await Run(
      "match", "--json", "--sightings", try csv(row), "--public-key", publicKey, zip)
    let match = (try run.json()?["matches"] as? [[String: Any]])?.first
    #expect(match?["txPower"] as? Int == -120)
    #expect(match?["attenuation"] as? Int == 0)
  }

  @Test("Another signature ends with 1; without --public-key any is accepted, with a note")
  func trust() async throws {
    let sightings = try csv("\(Self.beacon),\(Self.start),-60")
    #expect(
      try await Run("match", "--sightings", sightings, "--public-key", otherKey, zip).status == 1)
    #expect(try await Run("match", "--sightings", sightings, "--public-key", zip, zip).status == 2)
    let unverified = try await Run("match", "--json", "--sightings", sightings, zip)
    #expect(unverified.status == 0)
    #expect(unverified.errors.contains("not verified"))
    #expect(
      try await Run("match", "--sightings", sightings, "--public-key", otherKey, "--unsigned", zip)
        .status == 2)
  }

  @Test("An unsigned file needs --unsigned")
  func unsigned() async throws {
    let sightings = try csv("\(Self.beacon),\(Self.start),-60")
    let export = folder.path("export.bin")
    // Header, then one key: 16 bytes, start 2642976.
    let key =
      [0x0a, 16] + Self.bytes("75c734c6dd1a782de7a965da5eb93125") + [0x18, 0xa0, 0xa8, 0xa1, 0x01]
    try Data(Array("EK Export v1    ".utf8) + [0x3a, UInt8(key.count)] + key).write(to: export)
    let rejected = try await Run("match", "--json", "--sightings", sightings, export.path)
    #expect(rejected.status == 1 && rejected.output.isEmpty)
    #expect(rejected.errors.contains("export.bin"))
    let accepted = try await Run(
      "match", "--json", "--unsigned", "--sightings", sightings, export.path)
    #expect(accepted.status == 0, "\(accepted.errors)")
    #expect(try accepted.json()?["sightingsMatched"] as? Int == 1)
  }

  @Test("A search without matches ends with 0")
  func nothing() async throws {
    let run = try await Run(
      "match", "--json", "--sightings", try csv(), "--public-key", publicKey, zip)
    #expect(run.status == 0)
    #expect(try run.json()?["keysMatched"] as? Int == 0)
    #expect((try run.json()?["matches"] as? [Any])?.isEmpty == true)
  }

  @Test(
    "An invalid row is rejected with its line and column",
    arguments: [
      ("3c9a,c29211b1,1585786200,-60", "line 3, column 1 (rpi)"),
      ("3c9a1de5dd6b02afa7fded7b570b3e5g,c29211b1,1585786200,-60", "line 3, column 1 (rpi)"),
      ("3c9a1de5dd6b02afa7fded7b570b3e56,c29211,1585786200,-60", "line 3, column 2 (aem)"),
      ("3c9a1de5dd6b02afa7fded7b570b3e56,c29211b1,soon,-60", "line 3, column 3 (unix_time)"),
      ("3c9a1de5dd6b02afa7fded7b570b3e56,c29211b1,-1,-60", "line 3, column 3 (unix_time)"),
      ("3c9a1de5dd6b02afa7fded7b570b3e56,c29211b1,1585786200,-129", "line 3, column 4 (rssi)"),
      ("3c9a1de5dd6b02afa7fded7b570b3e56,c29211b1,1585786200", "line 3: 3 columns"),
      ("", "line 3: 1 columns"),
    ])
  func badRows(row: String, expected: String) async throws {
    let good = "\(Self.beacon),\(Self.start),-60"
    let run = try await Run(
      "match", "--json", "--sightings", try csv(good, row, good), "--public-key", publicKey, zip)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains(expected), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test("A wrong header, a missing file and an invalid key file are bad input")
  func badInput() async throws {
    let good = try csv("\(Self.beacon),\(Self.start),-60")
    #expect(try await Run("match", "--sightings", good, "--unsigned", good).status == 2)
    #expect(try await Run("match", "--sightings", good).status == 2)
    #expect(try await Run("match", "--sightings", folder.path("none").path, zip).status == 2)
    let other = try await Run("match", "--sightings", try csv(header: "rpi,aem,time,rssi"), zip)
    #expect(other.status == 2 && other.errors.contains("line 1"))
  }
}
