import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 6.5.
@Suite struct KeptMatchesTests {
  let folder: TemporaryFolder
  let authority: Authority
  let phone: TestPhone
  let configuration = Passenger.configuration()

  init() throws {
    folder = try TemporaryFolder()
    authority = try Authority()
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = 2
    phone.region = RegionConfiguration(region: "PL", keys: try authority.verificationKeys)
    self.phone = phone
  }

  private var names: [String] { folder.files().map(\.lastPathComponent) }

  /// A manager of a phone that met `passenger` yesterday.
  private func afterMeeting(_ passenger: Passenger, device: Device? = nil) async throws -> ENManager
  {
    let manager = try await phone.enabledManager(of: device)
    await passenger.sits(beside: phone)
    phone.clock.move(by: TestPhone.day)
    return manager
  }

  @Test("A match counts in later calls without its file, also after a restart")
  func again() async throws {
    let passenger = try Passenger()
    let manager = try await afterMeeting(passenger)
    let file = try authority.publish([try passenger.published()])
    let first = try await manager.detect([file], configuration)
    let windows = try await manager.windows(of: first).count
    let other = try authority.publish([try Passenger(2).published()], as: "2.zip")
    let restarted = try await phone.enabledManager()
    for again in [
      try await manager.detectAgain(configuration), try await manager.detect([], configuration),
      try await manager.detect([other, file], configuration),
      try await restarted.detectAgain(configuration),
    ] {
      #expect(again.matchedKeyCount == 1 && again.daySummaries.count == 1)
    }
    let last = try await restarted.detectAgain(configuration)
    #expect(try await restarted.windows(of: last).count == windows)
  }

  @Test("Another configuration scores the kept match anew")
  func anotherConfiguration() async throws {
    let passenger = try Passenger()
    let manager = try await afterMeeting(passenger)
    let file = try authority.publish([try passenger.published()])
    let nothing = Passenger.configuration(testWeight: 0)
    let first = try await manager.detect([file], nothing)
    #expect(first.daySummaries.first?.daySummary.scoreSum == 0)
    let second = try await manager.detectAgain(configuration)
    #expect(try #require(second.daySummaries.first).daySummary.scoreSum > 0)
    #expect(second.attenuationDurations.isEmpty && second.maximumRiskScore == 0)
  }

  @Test("A revision in a later file withdraws a kept match for good")
  func withdrawn() async throws {
    let passenger = try Passenger()
    let manager = try await afterMeeting(passenger)
    let file = try authority.publish([try passenger.published(.selfReport)])
    #expect(try await manager.detect([file], configuration).matchedKeyCount == 1)
    let revision = try authority.publish(
      [], revised: [try passenger.published(.revoked)], as: "2.zip")
    #expect(try await manager.detect([revision], configuration).matchedKeyCount == 0)
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
    #expect(try await manager.detect([file], configuration).matchedKeyCount == 0)
  }

  @Test("A key that comes before its owner is kept for as long as the owner may be heard")
  func openKey() async throws {
    let manager = try await phone.enabledManager()
    let (today, yesterday) = (
      try Passenger(1), try Passenger(2, on: TestPhone.noon - TestPhone.day)
    )
    let late = try authority.publish([try yesterday.published()], as: "late.zip")
    _ = try await manager.detect([late], configuration)
    #expect(!names.contains("matches"))
    let early = try authority.publish([try today.published()])
    #expect(try await manager.detect([early], configuration).matchedKeyCount == 0)
    #expect(names.contains("matches"))
    await today.sits(beside: phone)
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 1)
  }

  @Test("A call that fails or is cancelled keeps nothing")
  func failed() async throws {
    let passenger = try Passenger()
    let manager = try await afterMeeting(passenger)
    let file = try authority.publish([try passenger.published()])
    let foreign = try Authority().publish([], as: "foreign.zip")
    await #expect(throws: ENError.self) {
      _ = try await manager.detect([file, foreign], configuration)
    }
    #expect(!names.contains("matches"))
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
  }

  @Test("The settings' removal takes the kept matches, and what is damaged is set aside")
  func removedAndDamaged() async throws {
    let passenger = try Passenger()
    let device = phone.device()
    let manager = try await afterMeeting(passenger, device: device)
    let file = try authority.publish([try passenger.published()])
    _ = try await manager.detect([file], configuration)
    try Data(repeating: 1, count: 99).write(to: folder.path("matches"))
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
    #expect(names.contains("matches.damaged"))
    #expect(try await manager.detect([file], configuration).matchedKeyCount == 1)
    try await device.removeAllData()
    #expect(!names.contains { $0.hasPrefix("matches") })
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
  }

  @Test("Nobody finds the kept key in plain")
  func sealed() async throws {
    let passenger = try Passenger()
    let manager = try await afterMeeting(passenger)
    let file = try authority.publish([try passenger.published()])
    _ = try await manager.detect([file], configuration)
    let content = try Data(contentsOf: folder.path("matches"))
    let bytes = Data(passenger.key.secretBytes)
    #expect(content.range(of: bytes) == nil)
    #expect(content.range(of: Data(bytes.base64EncodedString().utf8)) == nil)
    let kept = KeptKey(key: try passenger.published(), since: TestPhone.noon)
    #expect("\(kept) \(StoredKeptKey(kept))" == "KeptKey StoredKeptKey")
  }

  @Test(
    "Matches that find no room fail the call, and what was kept stays",
    .enabled(if: SmallDisk.isAvailable, Comment(rawValue: SmallDisk.absence)))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    var phone = TestPhone(in: disk.url.appendingPathComponent("phone"))
    (phone.apiVersion, phone.region) = (2, self.phone.region)
    let manager = try await phone.enabledManager()
    let passenger = try Passenger()
    await passenger.sits(beside: phone)
    phone.clock.move(by: TestPhone.day)
    let file = try authority.publish([try passenger.published()])
    let ballast = disk.fill()
    await #expect(throws: ENError(.insufficientStorage)) {
      _ = try await manager.detect([file], configuration)
    }
    try FileManager.default.removeItem(at: ballast)
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
    #expect(try await manager.detect([file], configuration).matchedKeyCount == 1)
  }

  @Test("A key is kept for 14 days after it was handed in, and of too many the first")
  func limits() throws {
    let kept = KeptKey(key: try Passenger().published(), since: TestPhone.noon)
    let end = TestPhone.noon + 14 * TestPhone.day
    #expect([end - 1, end, end + 1].map(kept.isKept) == [true, true, false])
    let keys = try (1...UInt32(DeviceLimit.keptKeys + 1)).map {
      KeptKey(key: try Passenger($0).published(), since: TestPhone.noon)
    }
    let file = KeptKeys(file: phone.sealedFile("matches"), logger: phone.logger)
    for (count, expected) in [(-1, -1), (0, 0), (1, 0)] {
      try file.replace(with: Array(keys.prefix(DeviceLimit.keptKeys + count)))
      let read = try file.read(at: TestPhone.noon)
      #expect(read == Array(keys.prefix(DeviceLimit.keptKeys + expected)))
    }
  }
}
