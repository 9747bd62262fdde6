// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import HealthAuthorityConsole
import KeyServer
import KeyServerAPI
import Logging
import RiskRules
import Settings
import TestSupport
import Testing
import TextEncodings
import VerificationAPI
import VerificationServer
import World

@testable import ServerOperations

/// The servers of a folder as the console administers them.
@Suite("Authority of the console")
struct FolderAuthorityTests {
  private struct Bench {
    let folder: TemporaryFolder
    let setup: ServerSetup
    let verification: VerificationServer
    let keys: KeyServer
    let authority: FolderAuthority
  }

  /// Runs `test` with both servers, which listen.
  private static func run(_ test: (Bench) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    let setup = ServerSetup(folder: try ServerFolder(path: data)) { _ in }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    try await setup.prepareConsole(hasVerification: true, logger: logger)
    let verification = try setup.verificationServer(host: "127.0.0.1", port: 0, logger: logger)
    let keys = try setup.keyServer(logger: logger)
    let secrets = try #require(try setup.folder.consoleSecrets.read(ConsoleSecrets.self))
    let authority = FolderAuthority(
      setup: setup,
      codes: CodeSource(
        server: verification, host: "127.0.0.1", localKey: secrets.apiKey, remote: nil,
        remoteKey: nil, responseSeconds: Int64(Patience.seconds)), keyServer: keys,
      host: "127.0.0.1", files: ExportFiles())
    let runs = [Task { try await verification.run() }, Task { try await keys.run() }]
    defer { for run in runs { run.cancel() } }
    _ = (await verification.boundPort, await keys.boundPort)
    try await test(
      Bench(
        folder: folder, setup: setup, verification: verification, keys: keys, authority: authority))
    for run in runs {
      run.cancel()
      _ = await run.result
    }
  }

  @Test("A key of an authority replaces neither another key nor the audience")
  func authorityKeys() async throws {
    try await Self.run { bench async throws in
      let pems = (0..<2).map { _ in P256.Signing.PrivateKey().publicKey.pemRepresentation }
      func add(_ audience: String, _ key: Int) async throws {
        let facts = AuthorityFacts(issuer: "de", audience: audience, keyIDs: ["v1"])
        try await bench.authority.add(facts, publicKeyPEM: pems[key])
      }
      try await add("a", 0)
      for (audience, key) in [("a", 1), ("b", 0)] {
        await #expect(throws: AuthorityFailure.self) { try await add(audience, key) }
        let facts = AuthorityFacts(issuer: "de", audience: audience, keyIDs: ["v1"])
        await #expect(throws: AuthorityFailure.self) {
          try await bench.authority.check(facts, publicKeyPEM: pems[key])
        }
      }
      try await add("", 0)
      let stored = try await bench.authority.authorities().filter { !$0.isInSettings }
      #expect(stored.map(\.audience) == ["a"])
      #expect(stored.map(\.publicKeysPEM) == [["v1": pems[0]]])
    }
  }

  @Test("The lists have the app and the authority of the settings, and the withdrawn keys")
  func register() async throws {
    try await Self.run { bench async throws in
      let settings = try bench.setup.keySettings().configuration
      for _ in 0..<2 {
        let apps = try await bench.authority.apps()
        #expect(apps.map(\.id) == settings.appPackages.sorted())
        #expect(!apps.contains { !$0.isInSettings })
      }
      let own = try #require(try await bench.authority.authorities().first)
      #expect(own.isInSettings && own.issuer == settings.tokenIssuer)
      let tokenKeys = try await bench.authority.signingKeys(of: .verification)
      #expect(own.keyIDs == tokenKeys.map(\.id))
      for id in ["v1", "v2"] {
        let facts = AuthorityFacts(issuer: "de", audience: "a", keyIDs: [id])
        let key = P256.Signing.PrivateKey().publicKey
        try await bench.authority.add(facts, publicKeyPEM: key.pemRepresentation)
      }
      try await bench.authority.withdrawKey("v1", of: "de")
      let added = try await bench.authority.authorities().filter { !$0.isInSettings }
      #expect(added.map(\.keyIDs) == [["v2"]] && added.map(\.withdrawnKeyIDs) == [["v1"]])
      try await bench.authority.add(
        AppFacts(id: "org.example", regions: ["PL"], authorities: ["de"]))
      let apps = try await bench.authority.apps()
      #expect(apps.last?.id == "org.example" && apps.last?.isInSettings == false)
      #expect(apps.count == settings.appPackages.count + 1)
    }
  }

  @Test("Codes are issued with the console's own API key, which is kept")
  func codes() async throws {
    try await Self.run { bench async throws in
      let order = CodeRequest(uuid: UUID(), testType: .confirmed)
      let issued = try await bench.authority.issue(order)
      #expect(issued.code.count == 6)
      #expect(try await bench.authority.state(ofCode: order.uuid).isUsed == false)
      let keys = try await bench.authority.apiKeys()
      #expect(keys.map(\.name) == ["console"] && keys.map(\.liveCodes) == [1])
      let (rules, limits) = (try await bench.authority.codeRules(), AttemptLimits())
      #expect(rules.codesPerDay == limits.issuesPerApiKey && rules.smsTemplates.isEmpty)
      #expect(rules.values.shortCodeDigits == 8 && rules.values.longCodeSeconds == 86_400)
      #expect(rules.limits.pinSeconds == 60...1_800 && rules.limits.shortCodeDigits == 6...11)
      try await bench.setup.prepareConsole(
        hasVerification: true, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      #expect(try await bench.authority.apiKeys() == keys)
      try await bench.authority.revokeAPIKey(keys[0].id)
      try await bench.setup.prepareConsole(
        hasVerification: true,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      // The code of the revoked key has ended.
      #expect(try await bench.authority.apiKeys().map(\.liveCodes) == [0, 0])
    }
  }

  @Test("New rules for codes are stored, and the running server uses them for its next code")
  func rules() async throws {
    try await Self.run { bench async throws in
      let file = bench.setup.folder.verificationSettings
      try file.replace([
        "policy": .object(["longCodeCharacters": .integer(14)]), "tokenLifetime": .integer(3_600),
      ])
      func seconds() async throws -> TimeInterval {
        let order = CodeRequest(uuid: UUID(), testType: .likely)
        return try await bench.authority.issue(order).expiresAt.timeIntervalSinceNow
      }
      #expect((880...900).contains(try await seconds()))
      var values = try await bench.authority.codeRules().values
      values.shortCodeSeconds = 300
      for _ in 0..<2 { try await bench.authority.set(values) }
      #expect((280...300).contains(try await seconds()))
      let stored = try bench.setup.verificationSettings()
      #expect(stored.configuration.policy.shortCodeLifetime == 300)
      // Other settings are as before.
      #expect(stored.configuration.policy.longCodeCharacters == 14)
      #expect(stored.configuration.tokenLifetime == 3_600)
      let text = try file.read()
      values.pinSeconds = 3_601
      await #expect(throws: AuthorityFailure.self) { try await bench.authority.set(values) }
      values.pinSeconds = 59
      await #expect(throws: AuthorityFailure.self) { try await bench.authority.set(values) }
      #expect(try file.read() == text)
    }
  }

  @Test("The rules have the labels of the texts for an SMS, that of the default text first")
  func labels() async throws {
    try await Self.run { bench async throws in
      let folder = bench.folder.path("texts")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let texts = ["a": "[code]", "standard": "Code: [code]", "English": "[enslink]"]
      try bench.setup.folder.verificationSettings.replace(
        "sms",
        with: .object([
          "region": "PL", "folder": .string(folder.path), "defaultTemplate": "standard",
          "templates": .object(texts.mapValues(JSONValue.string)),
        ]))
      let rules = try await bench.authority.codeRules()
      #expect(rules.smsTemplates == ["standard", "English", "a"])
    }
  }

  @Test("A new remote configuration is stored and served at once")
  func configuration() async throws {
    try await Self.run { bench async throws in
      var configuration = try await bench.authority.remoteConfiguration()
      configuration.version += 1
      configuration.riskLevelConfiguration.maxLowRiskScore = 1_200
      try await bench.authority.replace(configuration, ifInForce: configuration.version - 1)
      #expect(try await bench.authority.remoteConfiguration() == configuration)
      let port = await bench.keys.boundPort
      let document = try await LoopbackClient.send(
        "GET", "http://127.0.0.1:\(port)/remote-configuration.json"
      ).text
      let payload = document.firstMatch(of: /"payload":"([^"]*)"/).flatMap {
        Data(base64Encoded: String($0.1).replacing("\\/", with: "/"))
      }
      let text = String(decoding: try #require(payload), as: UTF8.self)
      #expect(text.contains("1200"))
      await #expect(throws: AuthorityFailure.changed) {
        try await bench.authority.replace(configuration, ifInForce: configuration.version - 1)
      }
      var bad = configuration
      bad.riskLevelConfiguration.maxLowRiskScore = 5_000
      await #expect(throws: AuthorityFailure.self) {
        try await bench.authority.replace(bad, ifInForce: configuration.version)
      }
      #expect(try await bench.authority.remoteConfiguration() == configuration)
    }
  }

  @Test("Phones are paused, files are withdrawn and restored, and keys are rotated")
  func phones() async throws {
    try await Self.run { bench async throws in
      let version = try await bench.authority.instructions().version
      try await bench.authority.pause(until: nil)
      let hash = try #require(KeyFileHash(hex: String(repeating: "0a", count: 32)))
      try await bench.authority.withdraw([hash])
      let paused = try await bench.authority.instructions()
      #expect(paused.version > version && paused.pause != nil && paused.withdrawn == [hash])
      try await bench.authority.resume()
      try await bench.authority.restore([hash])
      let resumed = try await bench.authority.instructions()
      #expect(resumed.pause == nil && resumed.withdrawn.isEmpty)
      for server in SigningServer.allCases {
        let before = try await bench.authority.signingKeys(of: server)
        try await bench.authority.rotateSigningKey(of: server)
        let after = try await bench.authority.signingKeys(of: server)
        #expect(after.count == before.count + 1 && after[0].validThru != nil)
      }
    }
  }

  @Test("Exports are described, and the funnel has no day without data")
  func observation() async throws {
    try await Self.run { bench async throws in
      let before = SystemClock().now
      let exports = try await bench.authority.exports()
      let after = SystemClock().now
      #expect(exports.contains { $0.root.isEmpty && $0.region == "PL" })
      for export in exports {
        #expect(export.nextFile > before)
        #expect(export.nextFile <= after.addingTimeInterval(TimeInterval(export.periodSeconds)))
      }
      #expect(try await bench.authority.funnel().isEmpty)
    }
  }

  @Test("The funnel has the time from upload to file, and the exports have their padding")
  func published() async throws {
    try await Self.run { bench async throws in
      let now = Int64(SystemClock().now.timeIntervalSince1970)
      let day = now / 86_400 * 86_400 - 4 * 86_400
      let issuer = try bench.setup.keySettings().configuration.tokenIssuer
      let database = try DatabaseQueue(waitingAt: bench.setup.folder.keyDatabase.path)
      try await database.write { db in
        // Ten uploads of the hour from three o'clock, in a file that was written at four.
        try db.execute(
          sql: """
            INSERT INTO statistic (hour, issuer, kind, bucket, count)
            VALUES (?, ?, 'uploads', 1, 10)
            """,
          arguments: [day + 3 * 3_600, issuer])
        try db.execute(
          sql: """
            INSERT INTO export_file (export, region, start_at, end_at, released_before,
              input_regions, excluded_regions, travellers, written_at)
            VALUES ('', 'PL', ?, ?, ?, 'PL', '', ?, ?)
            """,
          arguments: [
            day, day + 14_400, day + 14_400, ExportConfiguration.Travellers.included.rawValue,
            day + 14_400,
          ])
      }
      try await bench.keys.exportDue()
      try await database.write { try $0.execute(sql: "UPDATE export_file SET padding = 600") }
      let files = try await bench.authority.exports().first?.files
      // The row says that the file was written before, so the export gives it the next number.
      #expect(files?.map(\.name) == ["\(day)-\(day + 14_400)-00002.zip"])
      #expect(files?.map(\.padding) == [600] && files?.map(\.isSigned) == [true])
      let hash = try #require(files?.first?.hash)
      #expect(try await bench.authority.copies(of: hash).map(\.root) == [""])
      let funnel = try await bench.authority.funnel()
      #expect(funnel.map(\.day) == [day] && funnel.map(\.uploads) == [10])
      #expect(funnel.map(\.fileTime) == [.under(minutes: 60)])
    }
  }

  @Test("A console beside the verification server alone shows its counts, and no others")
  func codesAlone() async throws {
    try await Self.run { bench async throws in
      let data = bench.folder.path("console").path
      let authority = FolderAuthority(
        setup: ServerSetup(folder: try ServerFolder(path: data)) { _ in },
        codes: bench.authority.codes, keyServer: nil, host: "127.0.0.1", files: ExportFiles())
      #expect(try await authority.funnel().isEmpty)
      _ = try await authority.issue(CodeRequest(uuid: UUID(), testType: .confirmed))
      let days = try await authority.funnel()
      #expect(days.map(\.issued) == [1] && days.map(\.redeemed) == [0])
      #expect(days.map(\.published) == [nil])
    }
  }

  @Test("The attempts of apps are those of the verification server, all apps first")
  func attempts() async throws {
    try await Self.run { bench async throws in
      let key = try await bench.authority.addAPIKey(.device, name: "an app")
      let id = String(key.prefix(16))
      #expect(try await bench.authority.attempts().isEmpty)
      let day = Date(unixDay: bench.setup.clock.now.unixDay - 1)
      let database = try DatabaseQueue(waitingAt: bench.setup.folder.verificationDatabase.path)
      try await database.write {
        for (key, claimed, ios, android) in [(id, 25, 0, 14), ("", 0, 7, 0)] {
          try $0.execute(
            sql: "INSERT INTO attemptCount VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [day.unixDay, key, claimed, ios + android, 9, 0, ios, android])
        }
      }
      let text = String(day.formatted(.iso8601).prefix(10))
      var app = AppAttempts(
        day: text, app: "an app (\(id))", codesInvalid: 10, tokensInvalid: 0)
      (app.codesClaimed, app.tokensClaimed) = (20, 0)
      var all = AppAttempts(day: text, app: nil, codesInvalid: 20, tokensInvalid: 0)
      all.codesInvalidBySystem = .init(unknown: 0, ios: 0, android: 10)
      #expect(try await bench.authority.attempts() == [all, app])
      #expect(try await bench.authority.codesByIssuer().isEmpty, "device keys issue no codes")
    }
  }

  @Test("The codes of today are counted for the keys of other systems, not for the console's own")
  func issuedToday() async throws {
    try await Self.run { bench async throws in
      let id = String(try await bench.authority.addAPIKey(.admin, name: "lab").prefix(16))
      let today = bench.setup.clock.now.unixDay
      let database = try DatabaseQueue(waitingAt: bench.setup.folder.verificationDatabase.path)
      try await database.write {
        for (day, count) in [(today, 9), (today - 1, 50)] {
          try $0.execute(
            sql: "INSERT INTO issuerCount VALUES (?, 'apiKey', ?, ?)", arguments: [day, id, count])
        }
      }
      _ = try await bench.authority.issue(CodeRequest(uuid: UUID(), testType: .confirmed))
      let keys = try await bench.authority.apiKeys()
      #expect(keys.first { $0.id == id }?.issuedToday == 9)
      #expect(keys.count > 1)
      #expect(keys.filter { $0.id != id }.allSatisfy { $0.issuedToday == nil })
      let quick = try await bench.authority.apiKeys(countsLiveCodes: false)
      #expect(quick.first { $0.id == id }?.issuedToday == 9)
      #expect(quick.allSatisfy { $0.liveCodes == nil } && keys.allSatisfy { $0.liveCodes != nil })
    }
  }

  @Test("Without servers in the folder, each request says what is missing")
  func nothing() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    let setup = ServerSetup(folder: try ServerFolder(path: data)) { _ in }
    let authority = FolderAuthority(
      setup: setup,
      codes: CodeSource(
        server: nil, host: "127.0.0.1", localKey: nil, remote: nil, remoteKey: nil,
        responseSeconds: Int64(Patience.seconds)),
      keyServer: nil, host: "127.0.0.1", files: ExportFiles())
    func isNotOffered(_ work: () async throws -> Void) async -> Bool {
      do {
        try await work()
        return false
      } catch AuthorityFailure.notOffered { return true } catch { return false }
    }
    #expect(await isNotOffered { _ = try await authority.exports() })
    let hash = try #require(KeyFileHash(hex: String(repeating: "0a", count: 32)))
    #expect(await isNotOffered { _ = try await authority.copies(of: hash) })
    #expect(await isNotOffered { _ = try await authority.apiKeys() })
    #expect(await isNotOffered { _ = try await authority.funnel() })
    #expect(
      await isNotOffered {
        _ = try await authority.issue(CodeRequest(uuid: UUID(), testType: .confirmed))
      })
    #expect(!FileManager.default.fileExists(atPath: setup.folder.keySecrets.url.path))
  }
}
