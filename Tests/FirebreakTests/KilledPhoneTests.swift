// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneProcess
import Secrets
import ServedSystem
import TestSupport
import Testing
import World

/// Kills a running phone with SIGKILL at random moments, and looks for lost, duplicated or damaged data afterwards.
///
/// `make prove` sets the number of rounds; a failure names the seed and the round.
@Suite("A phone that is killed", .needs(.process))
struct KilledPhoneTests {
  /// The variable with the number of rounds.
  static let roundsVariable = "FIREBREAK_PROVE_ROUNDS"
  private static let defaultRounds = 50
  /// The rounds with the same two phones: the phone's clock moves on with each check, and data expires.
  private static let roundsPerScene = 50

  @Test(
    "Killed while it receives, checks or uploads, a phone loses and duplicates nothing",
    .timeLimit(.minutes(Patience.minutes)))
  func killed() async throws {
    let text = ProcessInfo.processInfo.environment[Self.roundsVariable]
    let rounds = text.flatMap { Int($0) } ?? Self.defaultRounds
    for first in stride(from: 0, to: rounds, by: Self.roundsPerScene) {
      let scene = try await KilledPhoneScene(seed: UInt64(first + 1))
      for round in first..<min(rounds, first + Self.roundsPerScene) {
        try await scene.play(round)
      }
      try await scene.finish()
    }
  }
}

/// Two phones and the servers: one phone receives and checks, the other one uploads.
private final class KilledPhoneScene {
  private enum Act: CaseIterable {
    case receive, check, upload
  }

  private static let day = 86_400
  private static let hour = 3_600
  private static let beaconsPerScan = 3

  private let authority: ServedAuthority
  /// The network of the receiver, whose clock moves on without the servers'.
  private let network: RelayWithoutDates
  private let place: TemporaryFolder
  private let receiver: PhoneFixture
  private let sender: PhoneFixture
  private let files: PublishedFiles
  private let start: Int
  private let seed: UInt64
  private var generator: SeededGenerator
  /// The offset of the receiver's clock; it moves with each check, because checks are limited per day.
  private var offset = 0
  private var received = 0
  private var uploads = 0

  init(seed: UInt64) async throws {
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    start = Int(SystemClock().now.timeIntervalSince1970)
    authority = try await ServedAuthority.withoutExports()
    network = try RelayWithoutDates(to: authority.keys)
    place = try TemporaryFolder()
    files = try PublishedFiles(of: authority.servers)
    receiver = try PhoneFixture(
      "receiver", in: place.url,
      servers: ["verification": authority.verification, "keys": network.address],
      authority: authority.servers.data)
    sender = try PhoneFixture(
      "sender", in: place.url, servers: authority.addresses, authority: authority.servers.data)
    // The sender has a finished key, of two days ago.
    _ = try await sender.json("enable", clockOffset: -2 * Self.day)
    _ = try await receiver.json("enable")
    try await receiver.running { [receiver] _ in
      // Before any file is published, a check sets the position of a new phone.
      let check = try await receiver.check()
      #expect(check.status == .done, "\(check.text)")
    }
  }

  func play(_ round: Int) async throws {
    let act = Act.allCases[Int.random(in: 0..<Act.allCases.count, using: &generator)]
    let delay = Int.random(in: 0...1_000, using: &generator)
    let context: Comment = "seed \(seed), round \(round), \(act)"
    switch act {
    case .receive: try await receive(delay: delay, context)
    case .check: try await check(delay: delay, context)
    case .upload: try await upload(delay: delay, context)
    }
  }

  /// Runs the phone, asks for an operation and kills the phone after `delay` thousandths of `milliseconds`.
  ///
  /// - Returns: The reply, if it came in time.
  private func kill(
    _ phone: PhoneFixture, clockOffset: Int = 0, during operation: PhoneOperation,
    pin: String = "", after delay: Int, of milliseconds: Int
  ) async throws -> PhoneReply? {
    try await phone.running(clockOffset: clockOffset) { process in
      // Not `phone.ask`: a phone that is killed before the request arrives is no failure.
      let asking = Task {
        try? await PhoneSocket.ask(
          PhoneRequest(operation, pin: .init(copying: pin.utf8)), in: phone.folder,
          seconds: Patience.seconds)
      }
      try await Task.sleep(for: .microseconds(delay * milliseconds))
      process.kill()
      return await asking.value ?? nil
    }
  }

  private func receive(delay: Int, _ context: Comment) async throws {
    let scans = NearbyPhone.strangers(
      scans: 30, beacons: Self.beaconsPerScan, from: Int64(start - Self.day + received))
    let sent = scans.count * Self.beaconsPerScan
    let reply = try await kill(
      receiver, clockOffset: offset, during: .hear(scans), after: delay, of: 60)
    let total = try await receiver.running(clockOffset: offset) { [receiver] _ in
      try await receiver.beaconsReceived()
    }
    #expect((received...(received + sent)).contains(total), context)
    #expect((total - received).isMultiple(of: Self.beaconsPerScan), context)
    if reply?.status == .done { #expect(total == received + sent, context) }
    received = total
  }

  private func check(delay: Int, _ context: Comment) async throws {
    offset += 4 * Self.hour
    let number = files.count
    let today = start / Self.day
    let nearby = try NearbyPhone(
      on: Date(timeIntervalSince1970: Double((today - 1 - number % 8) * Self.day)))
    // Encounters with several people on one day are equal, and each counts.
    let scans = try nearby.scans(3)
    try await receiver.running(clockOffset: offset) { [receiver] _ in
      let heard = try await receiver.ask(.hear(scans))
      #expect(heard.status == .done, "\(heard.text)")
    }
    received += scans.count
    try await files.publish(nearby.key, firstEnd: Int64(start - start % 14_400))
    _ = try await kill(receiver, clockOffset: offset, during: .check, after: delay, of: 120)
    try await expectCheckedOnce(context)
  }

  /// A check after a restart finds what the killed one has not stored, and nothing else.
  private func expectCheckedOnce(_ context: Comment) async throws {
    let published = files.count
    try await receiver.running(clockOffset: offset) { [receiver] process in
      let check = try await receiver.check()
      #expect(check.status == .done, context)
      let history = try await receiver.facts(.history)
      #expect(history["keysTotal"] as? Int == published * PublishedFiles.keysPerFile, context)
      let status = try await receiver.facts(.status)
      #expect(status["exposures"] as? Int == published, context)
      #expect(status["storage"] as? String == "ready", context)
      #expect(status["damaged"] as? [String] == [], context)
      #expect(try await process.terminate() == 0, context)
    }
  }

  private func upload(delay: Int, _ context: Comment) async throws {
    let pin = try await authority.pin()
    _ = try await kill(
      sender, during: .upload(sharesAbroad: false), pin: pin, after: delay, of: 120)
    try await sender.running { [sender] process in
      let upload = try await sender.ask(.upload(sharesAbroad: false), pin: pin)
      #expect(upload.status == .done, "\(context): \(upload.text)")
      let status = try await sender.facts(.status)
      #expect(status["pendingUpload"] as? Bool == false, context)
      #expect(status["storage"] as? String == "ready", context)
      #expect(try await process.terminate() == 0, context)
    }
    uploads += 1
  }

  /// The server has the sender's key once, and no phone has set a file aside.
  func finish() async throws {
    for phone in [receiver, sender] {
      let names = FileManager.default.enumerator(atPath: phone.folder.path)?.compactMap {
        $0 as? String
      }
      #expect(names?.contains { $0.contains("damaged") } == false, "seed \(seed)")
    }
    #expect(try await authority.servers.stop() == 0)
    guard uploads > 0 else { return }
    let exports = URL(fileURLWithPath: authority.servers.data).appendingPathComponent("exports")
    let others = Set(try FileManager.default.contentsOfDirectory(atPath: exports.path))
    let servers = try await ServedFirebreak(
      folder: authority.folder, ["--developer", "--clock-offset", "\(Self.day + 3 * Self.hour)"])
    let addresses = try await servers.addresses()
    var found: [String] = []
    try await Patience.until {
      let index = try await servers.get(addresses["keys"], "/index.txt").body
      found = String(decoding: index, as: UTF8.self).split(separator: "\n").map(String.init)
        .filter { !others.contains($0) }
      return !found.isEmpty
    }
    let file = exports.appendingPathComponent(found.first ?? "").path
    let facts = try await Run("keyfile", "inspect", file, "--json").json()
    #expect(facts?["keyCount"] as? Int == 1, "seed \(seed)")
    #expect(try await servers.stop() == 0)
  }
}
