// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import PhoneProcess
import TestSupport
import Testing
import World

/// Key files that a test adds to the folder of a running key server, signed with the server's key.
///
/// An export of the server itself takes a period of hours, and this takes a moment.
package final class PublishedFiles {
  /// The keys of each file: one that a phone has met, and others.
  package static let keysPerFile = 3

  private let exports: URL
  private let place: TemporaryFolder
  private let signingKey: URL
  private let keyID: String
  private let keyVersion: String
  private var names: [KeyFileName] = []

  package init(of servers: ServedFirebreak) throws {
    place = try TemporaryFolder()
    let data = URL(fileURLWithPath: servers.data)
    exports = data.appendingPathComponent("exports")
    let secrets = try JSONSerialization.jsonObject(
      with: Data(contentsOf: data.appendingPathComponent("keys/secrets.json")))
    let keys = (secrets as? [String: Any])?["signingKeys"] as? [[String: Any]]
    let key = try #require(keys?.first)
    keyID = try #require(key["keyID"] as? String)
    keyVersion = try #require(key["keyVersion"] as? String)
    signingKey = place.path("signing-key.pem")
    try Data(try #require(key["privateKeyPEM"] as? String).utf8).write(to: signingKey)
  }

  /// The number of files.
  package var count: Int { names.count }

  /// Publishes a file with `met` and other keys of the same day. Each file ends four hours after the last one.
  package func publish(_ met: TemporaryExposureKey, firstEnd: Int64) async throws {
    let end = names.last.map { $0.endTimestamp + 14_400 } ?? firstEnd
    let name = try #require(KeyFileName(start: end - 14_400, end: end))
    try await write(met, end: end, to: exports.appendingPathComponent(name.text))
    names.append(name)
    try AtomicFile.write(
      KeyFileIndex.render(names).utf8, to: exports.appendingPathComponent("index.txt"))
  }

  /// Writes a file like those of `publish` without publishing it.
  package func write(_ met: TemporaryExposureKey, end: Int64, to url: URL) async throws {
    let others = (1..<Self.keysPerFile).map { _ in Data(SystemRandomness().bytes(16)) }
    let keys = ([Data(met.secretBytes)] + others).map { key in
      #"{"key":"\#(key.base64EncodedString())","rollingStartNumber":\#(met.rollingStart.rawValue),"#
        + #""rollingPeriod":\#(met.rollingPeriod),"transmissionRisk":8}"#
    }.joined(separator: ",")
    let list = place.path("keys.json")
    try Data(#"{"temporaryExposureKeys":[\#(keys)],"revisedKeys":[]}"#.utf8).write(to: list)
    let made = try await Run(
      "keyfile", "make", "--keys", list.path, "--signing-key", signingKey.path, "--key-id", keyID,
      "--key-version", keyVersion, "--region", "PL", "--start", "\(end - 14_400)", "--end",
      "\(end)", "--output", url.path)
    #expect(made.status == 0, "\(made.errors)")
  }
}

/// A phone near the phone under test: its key of one day, and its beacons.
package struct NearbyPhone {
  package let key: TemporaryExposureKey
  private let day: Date

  /// A phone with a new key for the day that starts at `day`.
  package init(on day: Date) throws {
    let start = try #require(IntervalNumber(day))
    key = try #require(
      TemporaryExposureKey(
        bytes: SystemRandomness().bytes(16), rollingStart: start, rollingPeriod: 144))
    self.day = day
  }

  /// Scans that receive the phone, five minutes apart, at noon of the day.
  package func scans(_ count: Int) throws -> [HeardScan] {
    let schedule = KeySchedule(key)
    let noon = day.addingTimeInterval(43_200)
    let identifier = schedule.identifier(at: try #require(IntervalNumber(noon)))
    let metadata = schedule.seal(BluetoothMetadata(.unknownModel), beside: identifier)
    return (0..<count).map { index in
      HeardScan(
        time: Int64(noon.timeIntervalSince1970) + 300 * Int64(index),
        beacons: [
          HeardScan.Beacon(bytes: Data(identifier.bytes + metadata.bytes), signalStrength: -40)
        ])
    }
  }

  /// Scans with `beacons` unknown beacons each.
  package static func strangers(scans count: Int, beacons: Int, from time: Int64) -> [HeardScan] {
    (0..<count).map { index in
      HeardScan(
        time: time + Int64(index),
        beacons: (0..<beacons).map { _ in
          HeardScan.Beacon(bytes: Data(SystemRandomness().bytes(20)), signalStrength: -70)
        })
    }
  }
}

extension ServedAuthority {
  /// Servers that export nothing during a test, which would remove the files that the test publishes.
  package static func withoutExports() async throws -> ServedAuthority {
    try await ServedAuthority(
      [
        "keys/settings.json": #"{"minimumKeys":0,"paddingRange":0,"exportPeriodSeconds":86400}"#
      ],
      arguments: [
        "--developer", "--clock-offset", "\(clockOffset(within: 86_400, margin: 3_000))",
      ])
  }

  /// The offset of the servers' clock with which no period ends in the next `margin` seconds.
  ///
  /// Their clock is ahead of ours if one would, by less than `ClockRule.differenceSecondsMax`.
  package static func clockOffset(within periodSeconds: Int, margin: Int) -> Int {
    let now = Int(SystemClock().now.timeIntervalSince1970)
    let rest = periodSeconds - now % periodSeconds
    return rest < margin ? rest + 60 : 0
  }
}
