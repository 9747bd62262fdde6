// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing

/// A meeting of two phones two days ago, at which at least the second one receives beacons of the first one.
enum PhoneMeeting: Sendable {
  /// The second phone hears a recording of what the first one has sent.
  case recorded
  /// Both phones have a Bluetooth controller, and meet again after the power of both has failed.
  case over(VirtualControllers)

  static let all = [recorded] + VirtualControllers.allCases.map(over)

  private static let clockOffset = -2 * 86_400
  /// The arguments of servers with the time of the meeting: without them, the phones' clocks would be wrong.
  static let serverArguments = ["--developer", "--clock-offset", "\(clockOffset)"]

  /// Turns both phones on and lets them meet.
  ///
  /// - Returns: The number of beacons that the second phone has stored.
  func take(
    place first: PhoneFixture, _ second: PhoneFixture, in folder: TemporaryFolder
  ) async throws -> Int {
    for phone in [first, second] {
      let enabled = try await phone.json("enable", clockOffset: Self.clockOffset)
      #expect(enabled["enabled"] as? Bool == true)
    }
    switch self {
    case .recorded: return try await playRecording(of: first, to: second, in: folder)
    case .over(let controllers): return try await meet(first, second, over: controllers)
    }
  }

  // MARK: Recorded

  private func playRecording(
    of sender: PhoneFixture, to receiver: PhoneFixture, in folder: TemporaryFolder
  ) async throws -> Int {
    let csv = folder.path("meeting.csv")
    try await sender.running(clockOffset: Self.clockOffset) { process in
      try await Patience.until { try await sender.ask(.sent).text.contains(",") }
      let sent = try await sender.facts(.sent)["sent"] as? [[String: Any]]
      let beacon = try #require(sent?.first)
      try Data(try Self.sightings(of: beacon).utf8).write(to: csv)
      #expect(try await process.terminate() == 0)
    }
    return try await receiver.running(clockOffset: Self.clockOffset) { process in
      try await Self.setPosition(of: receiver)
      let heard = try await receiver.json("hear", csv.path)
      #expect(heard["scans"] as? Int == 7 && heard["beacons"] as? Int == 7)
      #expect(try await process.terminate() == 0)
      return 7
    }
  }

  /// Sightings of `beacon`, a row of `sent`, every five minutes of the half hour before it was sent.
  private static func sightings(of beacon: [String: Any]) throws -> String {
    let (rpi, aem) = (try #require(beacon["rpi"]), try #require(beacon["aem"]))
    let time = try #require(beacon["unix_time"] as? Int)
    let rows = (0...6).map { "\(rpi),\(aem),\(time - 300 * $0),-40" }
    return (["rpi,aem,unix_time,rssi"] + rows).joined(separator: "\n")
  }

  /// A check before any file sets the position of a new phone.
  private static func setPosition(of phone: PhoneFixture) async throws {
    let check = try await phone.check()
    #expect(check.status == .done, "\(check.text)")
  }

  // MARK: Over Bluetooth

  private func meet(
    _ first: PhoneFixture, _ second: PhoneFixture, over controllers: VirtualControllers
  ) async throws -> Int {
    try await controllers.withPowerSwitch { ports, cutPower in
      let radios = ports.map { "hci:127.0.0.1:\($0)" }
      try await first.running(clockOffset: Self.clockOffset, radio: radios[0]) { one in
        try await second.running(clockOffset: Self.clockOffset, radio: radios[1]) { two in
          try await Self.setPosition(of: second)
          try await Self.exchangeBeacons([first, second])
          cutPower()
          for process in [one, two] {
            try await Patience.until { try process.errors.contains("will try again") }
          }
          try await Self.exchangeBeacons([first, second])
          for process in [one, two] { #expect(try await process.terminate() == 0) }
        }
      }
    }
    return try await second.running(clockOffset: Self.clockOffset) { _ in
      try await second.beaconsReceived()
    }
  }

  /// Returns when each phone has stored more beacons than before.
  private static func exchangeBeacons(_ phones: [PhoneFixture]) async throws {
    var missing: [(phone: PhoneFixture, count: Int)] = []
    for phone in phones { missing.append((phone, try await phone.beaconsReceived())) }
    let end = ContinuousClock.now + .seconds(Patience.seconds)
    while !missing.isEmpty, ContinuousClock.now < end {
      for (phone, _) in missing { try await scanNow(phone) }
      // A scan takes four seconds; after another one, it is repeated.
      for _ in 0..<60 where !missing.isEmpty {
        try await Task.sleep(for: .milliseconds(100))
        var rest: [(phone: PhoneFixture, count: Int)] = []
        for (phone, count) in missing where try await phone.beaconsReceived() == count {
          rest.append((phone, count))
        }
        missing = rest
      }
    }
    #expect(missing.isEmpty)
  }

  /// A phone scans every few minutes, and when it is turned on.
  private static func scanNow(_ phone: PhoneFixture) async throws {
    for operation in [PhoneOperation.disable, .enable] {
      let reply = try await phone.ask(operation)
      #expect(reply.status == .done, "\(reply.text)")
    }
  }
}
