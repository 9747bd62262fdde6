// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import UploadToken

@testable import KeyServer

@Suite("Statistics")
struct StatisticsTests {
  private func run(
    _ change: (inout KeyServerConfiguration) -> Void = { _ in },
    _ body: (PublishScene) async throws -> Void
  ) async throws {
    try await RunningKeyServer.run({ configuration in
      configuration.healthAuthorities = [
        HealthAuthority(
          issuer: "codes", audience: "keys", publicKeysPEM: configuration.tokenPublicKeysPEM,
          seesStatistics: true),
        HealthAuthority(
          issuer: "other", audience: "keys", publicKeysPEM: configuration.tokenPublicKeysPEM,
          seesStatistics: true),
        HealthAuthority(
          issuer: "without-access", audience: "keys",
          publicKeysPEM: configuration.tokenPublicKeysPEM),
      ]
      change(&configuration)
    }) { try await body(PublishScene(server: $0)) }
  }

  private struct Claims: Encodable {
    var iss = "codes"
    var aud = "keyserver"
    var exp: Int64
  }

  private func request(
    _ scene: PublishScene, as issuer: String = "codes", audience: String = "keyserver",
    lifetime: TimeInterval = 60, key: P256.Signing.PrivateKey? = nil, body: String = "{}"
  ) async throws -> (status: UInt, body: StatisticsResponse) {
    let signing = try SigningKey(
      keyID: "t1", privateKeyPEM: (key ?? scene.server.authority.tokenKey).pemRepresentation)
    let now = scene.server.clock.now.addingTimeInterval(lifetime)
    let token = try CompactToken.text(
      Claims(iss: issuer, aud: audience, exp: Int64(now.timeIntervalSince1970)), signedBy: signing)
    let response = try await scene.server.post(
      Data(body.utf8), to: KeyServerRoute.statistics,
      headers: [("Authorization", "Bearer \(token)")])
    return (response.status, try JSONDecoder().decode(StatisticsResponse.self, from: response.body))
  }

  /// Publishes `count` uploads of `keys` keys from different platforms.
  private func publish(_ count: Int, in scene: PublishScene, keys: Int = 1) async throws {
    let agents = [
      "ExampleApp (iPhone; 26)", "bluetoothd (unknown) CFNetwork/1", "Dalvik (Android)",
    ]
    for number in 0..<count {
      let sent = try await scene.publish(
        scene.request(scene.keys(keys)), headers: [("User-Agent", agents[number % 3])])
      #expect(sent.status == 200)
    }
  }

  /// From noon, the start of the test server, to the end of the day and of the delay.
  private static let untilShown: TimeInterval = (12 + 48) * 3_600

  @Test(
    "A day of ten uploads is shown after its delay, a day of nine never",
    arguments: [(9, false), (10, true), (11, true)])
  func threshold(uploads: Int, isShown: Bool) async throws {
    try await run { scene in
      try await publish(uploads, in: scene, keys: 2)
      scene.server.clock.advance(by: Self.untilShown)
      #expect(try await request(scene).body.days?.count == (isShown ? 1 : 0))
      scene.server.clock.advance(by: 30 * 86_400)
      #expect(try await request(scene).body.days?.count == (isShown ? 1 : 0))
    }
  }

  @Test("A day is not shown until its delay is over")
  func delay() async throws {
    try await run { scene in
      try await publish(12, in: scene)
      for seconds in [0, 3_600, 11 * 3_600, 47 * 3_600, 3_600 - 1] as [TimeInterval] {
        scene.server.clock.advance(by: seconds)
        #expect(try await request(scene).body.days == [])
      }
      for seconds in [1, 1] as [TimeInterval] {
        scene.server.clock.advance(by: seconds)
        #expect(try await request(scene).body.days?.count == 1)
      }
    }
  }

  @Test("The configuration can demand more uploads and another delay")
  func configured() async throws {
    try await run({ ($0.statistics.uploadsMin, $0.statistics.delaySeconds) = (12, 3_600) }) {
      scene in
      try await publish(11, in: scene)
      scene.server.clock.advance(by: 12 * 3_600)
      try await publish(12, in: scene)
      scene.server.clock.advance(by: 25 * 3_600 - 1)
      #expect(try await request(scene).body.days == [])
      scene.server.clock.advance(by: 1)
      #expect(try await request(scene).body.days?.map(\.day) == ["2020-09-14T00:00:00Z"])
    }
  }

  @Test(
    "A configuration with fewer than ten uploads or too short or long a delay is rejected",
    arguments: [
      (9, 172_800, false), (10, 172_800, true), (11, 172_800, true), (10, 3_599, false),
      (10, 3_600, true), (10, 3_601, true), (10, 2_591_999, true), (10, 2_592_000, true),
      (10, 2_592_001, false),
    ])
  func limits(uploads: Int, delay: Int, isGood: Bool) async throws {
    let start = {
      try await RunningKeyServer.run({
        ($0.statistics.uploadsMin, $0.statistics.delaySeconds) = (uploads, delay)
      }) { _ in }
    }
    if isGood {
      try await start()
    } else {
      await #expect(throws: KeyServerError.self) { try await start() }
    }
  }

  @Test("A day has counts of platforms, keys, ages, onsets and missing onsets, rounded to tens")
  func counts() async throws {
    try await run { scene in
      try await publish(30, in: scene, keys: 10)
      for _ in 0..<10 {
        let keys = scene.keys(3)
        let onset = UInt32(keys[0].rollingStartNumber - 144)
        let certificate = try scene.certificate(keys) {
          ($0.onset, $0.issuedBefore) = (onset, 120)
        }
        try await scene.publish(scene.request(keys, certificate: certificate))
      }
      scene.server.clock.advance(by: Self.untilShown)
      let day = try #require(try await request(scene).body.days?.first)
      #expect(day.day == "2020-09-13T00:00:00Z")
      // Multiples of ten stay as they are. Of 330 keys, 30 are more than a multiple of 300.
      #expect(day.publishRequests == .init(unknown: 10, android: 10, ios: 20))
      #expect([300, 600].contains(day.totalTEKsPublished))
      #expect(day.requestsMissingOnsetDate == 30)
      #expect(day.onsetToUploadDistribution[2] == 10)
      #expect(day.tokenToUploadDistribution == [30, 0, 10, 0, 0, 0])
      #expect(day.tekAgeDistribution.reduce(0, +) == 40 && day.tekAgeDistribution[3] == 10)
    }
  }

  @Test("A complete day has the times from upload to file, and the rounded padding of each file")
  func files() async throws {
    try await run({ ($0.minimumKeys, $0.paddingRange) = (700, 0) }) { scene in
      func upload(_ count: Int, keys: Int, thenWriteAfter seconds: TimeInterval) async throws {
        try await publish(count, in: scene, keys: keys)
        scene.server.clock.advance(by: seconds)
        try await scene.server.server.exportDue()
      }
      // In the hours from 12:00, 16:00 and 20:00; the files are written at 16:10, 20:00 and at noon of the next day.
      try await upload(10, keys: 10, thenWriteAfter: 4 * 3_600 + 600)
      scene.server.clock.advance(by: 3 * 3_600 - 600)
      try await upload(10, keys: 13, thenWriteAfter: 3_600)
      try await upload(9, keys: 10, thenWriteAfter: 16 * 3_600)
      scene.server.clock.advance(by: 36 * 3_600)
      let day = try #require(try await request(scene).body.days?.first)
      let distribution = day.uploadToFileDistribution
      #expect(distribution[4] == 10 && distribution[1] == 10 && [0, 10].contains(distribution[6]))
      #expect(distribution.count == 7 && distribution.reduce(0, +) <= 30)
      let names = [1_599_998_400, 1_600_012_800, 1_600_027_200].map {
        "\($0)-\($0 + 14_400)-00001.zip"
      }
      #expect(day.files.map(\.name) == names)
      #expect(day.files.first?.padding == 600)
      // 570 and 610 are not shown.
      #expect(day.files.dropFirst().allSatisfy { [300, 600, 900].contains($0.padding) })
      #expect(
        try scene.server.count("SELECT sum(padding) FROM export_file") == 600 + 570 + 610)
    }
  }

  @Test("The padding of a realm's files is shown to the realm, and to no other authority")
  func filesOfRealms() async throws {
    let app = "org.example.realm"
    try await run({ configuration in
      configuration.furtherExports = [ExportConfiguration(filenameRoot: "de", region: "DE")]
      configuration.realms = [
        TokenAuthority(
          issuer: "realm", audience: "keys", publicKeysPEM: configuration.tokenPublicKeysPEM,
          apps: [app], regions: ["DE"])
      ]
    }) { scene in
      try await publish(10, in: scene)
      for _ in 0..<10 {
        let keys = scene.keys(1)
        let certificate = try scene.certificate(keys) { $0.issuer = "realm" }
        let sent = try await scene.publish(
          scene.request(keys, certificate: certificate) { $0.healthAuthorityID = app })
        #expect(sent.status == 200)
      }
      scene.server.clock.advance(by: Self.untilShown)
      try await scene.server.server.exportDue()
      for (issuer, isRealm) in [("codes", false), ("realm", true)] {
        let day = try #require(try await request(scene, as: issuer).body.days?.first)
        let names = day.files.map(\.name)
        #expect(!names.isEmpty && names.allSatisfy { $0.hasPrefix("de/") == isRealm }, "\(names)")
      }
    }
  }

  @Test("The times to files and padding are shown until the first file of the day may expire")
  func expiredFiles() async throws {
    try await run { scene in
      try await publish(10, in: scene)
      scene.server.clock.advance(by: Self.untilShown)
      try await scene.server.server.exportDue()
      for seconds in [0, 11 * 86_400 - 1] as [TimeInterval] {
        scene.server.clock.advance(by: seconds)
        let day = try #require(try await request(scene).body.days?.first)
        #expect(day.files.count == 1 && day.uploadToFileDistribution.reduce(0, +) == 10)
      }
      scene.server.clock.advance(by: 1)
      try await scene.server.server.removeOld()
      #expect(try scene.server.count("SELECT count(*) FROM export_file") == 1)
      let day = try #require(try await request(scene).body.days?.first)
      #expect(day.files.isEmpty && day.uploadToFileDistribution.allSatisfy { $0 == 0 })
      #expect(day.publishRequests.total == 10)
    }
  }

  @Test("The wait of an hour with several files is their mean, and no file is shown before its day")
  func severalFiles() throws {
    let hour = Int64(3_600 * 432_000)
    func date(_ minute: Int64) -> Date {
      Date(timeIntervalSince1970: TimeInterval(hour + 60 * minute))
    }
    func file(_ minutes: Range<Int64>, writtenAfter delay: Int64?) -> Batch {
      var file = Batch(
        export: "", region: "PL", end: date(minutes.upperBound),
        selection: KeySelection(
          start: date(minutes.lowerBound), end: date(minutes.upperBound),
          filter: StoreScene.export().filter))
      file.writtenAt = delay.map { date(minutes.upperBound + $0) }
      return file
    }
    let uploads = StatisticCount(
      place: .init(hour: hour, issuer: "codes", kind: .uploads, bucket: 0), count: 20)
    func bucket(_ files: [Batch], root: String = "") -> Int? {
      let counts = FileCounts(files: files, root: root, closedUntil: nil)
      return counts.waits(of: [uploads], in: files).first?.place.bucket
    }
    // 15 minutes and 15 + 120 minutes: a mean of 75.
    let halves = [file(0..<30, writtenAfter: 0), file(30..<60, writtenAfter: 120)]
    #expect(bucket([halves[0]]) == 0 && bucket([halves[1]]) == 3 && bucket(halves) == 2)
    #expect(bucket(halves, root: "other") == nil && bucket([]) == nil)
    #expect(bucket([file(60..<120, writtenAfter: 0)]) == nil)
    #expect(hour % 86_400 == 0)
    func shown(_ files: [Batch], closedUntil end: Int64? = 1_440) -> Int {
      FileCounts(files: files, root: "", closedUntil: end.map(date))
        .files(of: hour, at: date(3 * 1_440)).count
    }
    #expect(shown(halves) == 2 && shown([file(1_380..<1_440, writtenAfter: 0)]) == 1)
    #expect(shown(halves, closedUntil: 1_439) == 0 && shown(halves, closedUntil: nil) == 0)
    #expect(shown(halves + [file(60..<120, writtenAfter: nil)]) == 0)
    #expect(shown([file(-60..<0, writtenAfter: 0), file(0..<1_500, writtenAfter: 0)]) == 0)
  }

  @Test("Padding is rounded to multiples of 300, the same in files with the same name")
  func roundedPadding() throws {
    let name = try #require(KeyFileName("1599998400-1600012800-00001.zip"))
    let shown = (0...255 as ClosedRange<UInt8>).map { secret in
      let rounding = StatisticRounding(SymmetricKey(data: [secret]))
      #expect(rounding.rounded(padding: 570, of: name) == rounding.rounded(padding: 570, of: name))
      return rounding.rounded(padding: 570, of: name)
    }
    // 270 of 300 are rounded up: 230 of 256, and six deviations are 28.
    #expect(Set(shown) == [300, 600] && (202...255).contains(shown.count { $0 == 600 }))
  }

  @Test(
    "One upload beside nine of the authority's own changes each count with a probability of 0.1")
  func single() throws {
    let day = Int64(86_400 * 18_000)
    func shown(_ secret: UInt8, platforms: [UploadPlatform]) throws -> [StatisticsDay] {
      let view = StatisticsView(
        now: Date(timeIntervalSince1970: TimeInterval(day) + 4 * 86_400),
        configuration: StatisticsConfiguration(),
        rounding: StatisticRounding(SymmetricKey(data: [secret])))
      let counts = platforms.flatMap { platform in
        [(StatisticKind.uploads, platform.rawValue, 1), (.oldestKey, 13, 1), (.keys, 0, 14)].map {
          StatisticCount(
            place: .init(hour: day, issuer: "codes", kind: $0.0, bucket: $0.1), count: $0.2)
        }
      }
      return view.days(
        of: counts, issuer: "codes", files: FileCounts(files: [], root: "", closedUntil: nil))
    }
    let own = [UploadPlatform](repeating: .android, count: 9)
    var (found, changed, keysChanged) = (0, 0, 0)
    for secret in 0...255 as ClosedRange<UInt8> {
      let one = try shown(secret, platforms: own + [.ios])
      let other = try shown(secret, platforms: own + [.unknown])
      // The same counts are rounded the same way, so repeated requests reveal no more.
      #expect(try shown(secret, platforms: own + [.ios]) == one)
      found += one.first?.publishRequests.ios == 10 ? 1 : 0
      changed += one != other ? 1 : 0
      keysChanged += one.first?.totalTEKsPublished == 300 ? 1 : 0
      #expect([0, 10].contains(one.first?.publishRequests.ios))
    }
    // A tenth of 256, and a fifth for two counts of which one differs in each; six deviations are 29 and 38.
    #expect((1...55).contains(found) && (5...90).contains(changed))
    // 140 of 300 keys.
    #expect((71...168).contains(keysChanged))
    #expect(try shown(0, platforms: own).isEmpty)
  }

  @Test("A shown day stays complete until it is removed after 60 days")
  func whole() async throws {
    try await run { scene in
      try await publish(10, in: scene)
      scene.server.clock.advance(by: 3_600)
      try await publish(1, in: scene)
      // 13:00 of the sixtieth day, and its last second.
      for seconds in [60 * 86_400, 11 * 3_600 - 1] as [TimeInterval] {
        scene.server.clock.advance(by: seconds)
        try await scene.server.server.removeOld()
        #expect(try await request(scene).body.days?.count == 1)
      }
      scene.server.clock.advance(by: 1)
      #expect(try await request(scene).body.days == [])
      try await scene.server.server.removeOld()
      #expect(try scene.server.count("SELECT count(*) FROM statistic") == 0)
    }
  }

  @Test("An authority sees only its own uploads")
  func ownOnly() async throws {
    try await run { scene in
      try await publish(10, in: scene)
      scene.server.clock.advance(by: Self.untilShown)
      #expect(try await request(scene).body.days?.count == 1)
      #expect(try await request(scene, as: "other").body.days == [])
    }
  }

  @Test("A token that is invalid or of an authority without access is rejected with 401")
  func unauthorized() async throws {
    try await run { scene in
      let responses = [
        try await request(scene, as: "without-access"), try await request(scene, as: "nobody"),
        try await request(scene, audience: "keys"), try await request(scene, lifetime: 0),
        try await request(scene, key: P256.Signing.PrivateKey()),
      ]
      for response in responses {
        #expect(response.status == 401 && response.body.code == .unauthorized)
      }
      let bare = try await scene.server.post(Data("{}".utf8), to: KeyServerRoute.statistics)
      #expect(bare.status == 401)
      #expect(try await request(scene, lifetime: 1).status == 200)
    }
  }

  @Test("A malformed body is rejected with 400")
  func malformed() async throws {
    try await run { scene in
      for body in ["", "[]", "{\"days\":1}", "{\"padding\":1}", "{}{}"] {
        let response = try await request(scene, body: body)
        #expect(response.status == 400 && response.body.code == .badRequest)
      }
    }
  }

  @Test("Uploads that revise keys are counted")
  func revisions() async throws {
    try await run { scene in
      let keys = scene.keys(2)
      let token = try await scene.publish(keys, as: "likely").body.revisionToken
      try await scene.publish(keys, as: "confirmed", token: token)
      let counted = "SELECT sum(count) FROM statistic WHERE kind ="
      #expect(try scene.server.count("\(counted) 'revisions'") == 1)
      #expect(try scene.server.count("\(counted) 'keys'") == 2)
    }
  }
}
