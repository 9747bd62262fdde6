// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import UploadToken
import World

@testable import KeyServer

/// Limits without a suite of their own, each tested below, at and above its value.
@Suite("Key server: limits")
struct LimitTests {
  private typealias Change = (inout KeyServerConfiguration) -> Void

  @Test("A configuration at its limits is accepted, one beyond them is rejected")
  func configuration() throws {
    let folder = try TemporaryFolder()
    let good = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    func maximum(_ keys: Int) -> Change {
      { ($0.minimumKeys, $0.paddingRange, $0.maximumKeysPerFile) = (0, 0, keys) }
    }
    let bounds: [(isGood: Bool, change: Change)] = [
      (false, maximum(0)), (true, maximum(1)), (true, maximum(499_999)), (true, maximum(500_000)),
      (false, maximum(500_001)),
      (true, { ($0.minimumKeys, $0.paddingRange) = (499_900, 100) }),
      (false, { ($0.minimumKeys, $0.paddingRange) = (499_901, 100) }),
      (false, { $0.uploadAttempts = 0 }), (true, { $0.uploadAttempts = 1 }),
      (true, { $0.uploadAttempts = 999_999 }), (true, { $0.uploadAttempts = 1_000_000 }),
      (false, { $0.uploadAttempts = 1_000_001 }), (false, { $0.uploadWindowSeconds = 0 }),
      (true, { $0.uploadWindowSeconds = 1 }), (true, { $0.uploadWindowSeconds = 2 }),
      (true, { $0.uploadWindowSeconds = 86_399 }), (true, { $0.uploadWindowSeconds = 86_400 }),
      (false, { $0.uploadWindowSeconds = 86_401 }), (false, { $0.regions = [] }),
      (true, { ($0.regions, $0.publish.defaultRegion) = ([], "PL") }),
      (true, { ($0.regions, $0.appPackages) = ([], []) }),
      (false, { $0.publish.revisionContext = Data(count: 15) }),
      (true, { $0.publish.revisionContext = Data(count: 16) }),
      (true, { $0.publish.revisionContext = Data(count: 17) }),
      (false, { $0.databaseKey = Data(count: 31) }),
      (true, { $0.databaseKey = Data(count: 32) }),
      (false, { $0.databaseKey = Data(count: 33) }),
    ]
    for (number, bound) in bounds.enumerated() {
      var configuration = good
      bound.change(&configuration)
      #expect(((try? configuration.checked()) != nil) == bound.isGood, "bound \(number)")
    }
  }

  /// Tests that refer to a limit by its name pass for any value.
  @Test("Limits have the values of the contracts and the documentation")
  func numbers() {
    #expect((PublishLimit.bodyBytesMax, PublishLimit.responseBytesMin) == (64_000, 4_096))
    #expect((UploadLimit.bodyBytesMax, UploadLimit.tokenBytesMax) == (65_536, 4_096))
    #expect(UploadLimit.deviceVerificationBytesMax == 16_384)
    #expect(KeyServerLimit.retentionSeconds == 14 * 86_400)
    #expect(KeyServerLimit.deviceCheckResponseBytesMax == 16_384)
    #expect(KeyServerLimit.clockSetBackSecondsMax == 86_400)
    #expect(KeyServerLimit.uploadsInOneCommit == 64)
    #expect(KeyServerLimit.registryAgeSecondsMax == 60)
    #expect(KeyServerLimit.statisticsSeconds == 60 * 86_400)
    #expect((KeyServerLimit.keyPageBytesMax, KeyServerLimit.pulledKeysMax) == (65_536, 50))
    #expect(RevisionLimit.textBytesMax == 20_480)
  }

  @Test("Decoys have ten times the budget of failed uploads")
  func decoys() async throws {
    try await RunningKeyServer.run({ $0.uploadAttempts = 1 }) { server in
      let request = try await server.request(server.keys(1))
      for number in 1...11 {
        let answer = try await server.upload(request, headers: [("X-Chaff", "1")])
        #expect(answer.status == (number <= 10 ? 200 : 429), "decoy \(number)")
      }
    }
  }

  @Test(
    "A used token is stored a day longer than a token with its ID may be valid, to the whole hour")
  func usedTokens() async throws {
    try await RunningKeyServer.run { server in
      // Used at noon; a reissued token may be valid until one o'clock of the next day.
      let token = try await server.authority.token(at: server.clock.now, lifetime: 1_800)
      #expect(try await server.upload(server.request(server.keys(1), token: token)).status == 200)
      let stored = KeyServerLimit.reissueSecondsMax + KeyServerLimit.clockSetBackSecondsMax
      server.clock.advance(by: stored - 1)
      try await server.server.removeOld()
      #expect(try server.count("SELECT count(*) FROM upload") == 1)
      server.clock.advance(by: 1)
      try await server.server.removeOld()
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
    }
  }

  @Test("An onset between now and the midnight of 28 days ago is accepted")
  func onset() throws {
    let now = RunningKeyServer.start
    let current = try #require(IntervalNumber(now)).rawValue
    let oldest = current - 12 * 6 - 28 * 144
    for (interval, isAccepted) in [
      (oldest - 1, false), (oldest, true), (oldest + 1, true), (current - 1, true),
      (current, true), (current + 1, false),
    ] {
      #expect((SymptomOnset(interval, at: now).day != nil) == isAccepted, "\(interval)")
    }
    // An unknown onset is assumed to be four days ago.
    let guess = SymptomOnset(firstOf: [nil, oldest - 1], at: now)
    #expect(guess.day?.rawValue == current - 12 * 6 - 4 * 144 && guess.isMissing)
  }

  @Test(
    "A key 14 days before the onset is accepted, one 15 days before is dropped",
    arguments: [(13, 1), (14, 1), (15, 0)])
  func beforeOnset(days: Int32, inserted: Int) async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      let today = Int32(server.clock.now.timeIntervalSince1970 / 86_400) * 144
      var keys = scene.keys(1)
      keys[0].rollingStartNumber = today - days * 144
      let certificate = try scene.certificate(keys) { $0.onset = UInt32(today) }
      let answer = try await scene.publish(scene.request(keys, certificate: certificate))
      #expect((answer.status, answer.body.insertedExposures) == (200, inserted))
      #expect((answer.body.warnings?.count ?? 0) == 1 - inserted)
    }
  }

  @Test(
    "Statistics are removed 60 days after the end of their day",
    arguments: [(-1.0, true), (0, false), (1, false)])
  func statistics(offset: TimeInterval, areStored: Bool) async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      try await scene.publish(scene.request(scene.keys(1)))
      // From noon to the midnight that ends the sixtieth day after today.
      server.clock.advance(by: KeyServerLimit.statisticsSeconds + 86_400 / 2 + offset)
      try await server.server.removeOld()
      #expect((try server.count("SELECT count(*) FROM statistic") > 0) == areStored)
    }
  }

  @Test("An HMAC secret of 16 to 128 bytes is accepted", arguments: [15, 16, 17, 127, 128, 129])
  func hmacKey(length: Int) async throws {
    try await RunningKeyServer.run { server in
      let keys = server.keys(2)
      let secret = Data(repeating: 5, count: length)
      let token = try await server.authority.token(
        at: server.clock.now, keyHMAC: KeyHMAC.authenticationCode(over: keys, secret: secret))
      let request = try await server.request(keys, token: token) {
        $0.data.hmackey = secret.base64EncodedString()
      }
      let isAccepted = (16...128).contains(length)
      #expect(try await server.upload(request).status == (isAccepted ? 200 : 401))
    }
  }

  @Test("A token of the maximum length is accepted, a longer one is rejected with 401")
  func tokenLength() async throws {
    try await RunningKeyServer.run { server in
      var byLength: [Int: String] = [:]
      for stretch in 2_700...2_900 {
        let id = String(repeating: "a", count: stretch)
        let token = try await server.authority.token(at: server.clock.now, id: id)
        byLength[token.utf8.count] = token
      }
      // Base64 texts do not have every length; these are the nearest to the limit.
      let limit = UploadLimit.tokenBytesMax
      let longest = try #require(byLength.keys.filter { $0 <= limit }.max())
      let tooLong = try #require(byLength.keys.filter { $0 > limit }.min())
      #expect(longest >= limit - 1 && tooLong <= limit + 2)
      for (length, status) in [(longest, UInt(200)), (tooLong, 401)] {
        let request = try await server.request(server.keys(1), token: byLength[length])
        #expect(try await server.upload(request).status == status)
      }
    }
  }
}
