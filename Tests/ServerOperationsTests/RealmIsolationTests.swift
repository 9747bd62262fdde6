// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServerAPI
import Settings
import Terminal
import TestSupport
import Testing
import TextEncodings
import VerificationAPI
import VerificationServer
import World

@testable import ServerOperations

/// Attempts to get from one authority to another at the servers of one process.
@Suite("Authorities of one installation")
struct RealmIsolationTests {
  private static let all = [Realm.main] + RealmScene.names
  /// Pages and lists with data of an authority.
  private static let pages = [
    "/accounts", "/audit", "/audit/export", "/officials/csv", "/issuers/csv", "/attempts/csv",
    "/funnel/csv", "/codes/issued", "/codes/status", "/codes/rules", "/keys", "/changes",
  ]

  private static func run(_ test: (RunningRealms) async throws -> Void) async throws {
    let scene = try RealmScene()
    try scene.addRealms()
    try await scene.run(test)
  }

  @Test("An API key and an API token open the servers of their own authority only")
  func credentials() async throws {
    try await Self.run { realms async throws in
      for owner in Self.all {
        let key = try await realms.apiKey(.admin, of: owner)
        let token = try #require(try realms.setup(of: owner).apiTokens()?.first)
        for name in Self.all {
          let issued = try await realms.send(
            of: name, VerificationRoute.issue, #"{"testType":"confirmed"}"#, apiKey: key)
          #expect((issued.status == 200) == (name == owner), "\(owner) at \(name)")
          let generated = try await realms.send(
            of: name, VerificationRoute.generateCode, #"{"data":{}}"#,
            headers: [(VerificationRoute.apiTokenHeader, token)])
          #expect((generated.status == 200) == (name == owner), "\(owner) at \(name)")
        }
      }
    }
  }

  @Test("Statistics are shown for an API key of their own authority only")
  func statistics() async throws {
    try await Self.run { realms async throws in
      for owner in Self.all {
        let key = try await realms.apiKey(.stats, of: owner)
        for name in Self.all {
          for path in [
            VerificationRoute.statistics, VerificationRoute.userStatistics,
            VerificationRoute.externalIssuerStatistics, VerificationRoute.apiKeysStatistics,
            VerificationRoute.smsErrorStatistics,
          ] {
            let response = try await realms.send(
              "GET", of: name, path, headers: [(VerificationRoute.apiKeyHeader, key)])
            #expect((response.status == 401) == (name != owner), "\(path): \(owner) at \(name)")
          }
        }
      }
    }
  }

  @Test("A code and a verification token are unknown to other authorities, also with one UUID")
  func codes() async throws {
    try await Self.run { realms async throws in
      let uuid = UUID().uuidString.lowercased()
      var codes: [String: String] = [:]
      for name in Self.all {
        let admin = try await realms.apiKey(.admin, of: name)
        let issued = try await realms.send(
          of: name, VerificationRoute.issue,
          #"{"testType":"confirmed","uuid":"\#(uuid)"}"#, apiKey: admin)
        #expect(issued.status == 200, "\(name)")
        codes[name] = issued.field("code")
      }
      let north = try #require(codes["north"])
      for name in ["main", "south", "north"] {
        let device = try await realms.apiKey(.device, of: name)
        let verified = try await realms.send(
          of: name, VerificationRoute.verify, #"{"code":"\#(north)"}"#, apiKey: device)
        // Two random codes of eight digits may be equal.
        #expect((verified.status == 200) == (codes[name] == north), "\(name)")
        guard name == "north", let token = verified.field("token") else { continue }
        let hmac = Data(repeating: 3, count: 32).base64EncodedString()
        for other in ["main", "south"] {
          let certified = try await realms.send(
            of: other, VerificationRoute.certificate,
            #"{"token":"\#(token)","ekeyhmac":"\#(hmac)"}"#,
            apiKey: try await realms.apiKey(.device, of: other))
          #expect(certified.status != 200 && certified.field("certificate") == nil)
        }
      }
    }
  }

  @Test("The host chooses the keys; the headers of a proxy and other names do not")
  func hosts() async throws {
    try await Self.run { realms async throws in
      var pages: [String: Data] = [:]
      for name in Self.all {
        pages[name] = try await realms.send("GET", of: name, VerificationRoute.keys).body
      }
      #expect(Set(pages.values).count == 3)
      let forwarded = try await realms.send(
        "GET", of: "north", VerificationRoute.keys,
        headers: [("x-forwarded-host", "codes.south.example")])
      #expect(forwarded.body == pages["north"])
      let unknown = try await realms.send("GET", of: "elsewhere", VerificationRoute.keys)
      #expect(unknown.body == pages["main"])
    }
  }

  @Test("Links of texts and the page of reports respond at the hosts of their realm only")
  func links() async throws {
    let scene = try RealmScene()
    try scene.addRealms()
    let properties = RealmScene.properties(
      "third", hosts: ["codes.third.example", "cz.third.example"], region: "CZ")
    let third = try scene.setup.addRealm(
      properties, origin: "https://console.third.example", issuer: "third"
    ).folder
    try FileManager.default.createDirectory(
      at: third.verification.appendingPathComponent("sms"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try third.verificationSettings.replace([
      "sms": .object([
        "region": .string("CZ"), "folder": .string("sms"), "linkDomain": .string("third.example"),
        "links": .object(["appPage": .string("https://app.third.example/")]),
      ]),
      "policy": .object(["allowsUserReport": .bool(true), "offersReportPage": .bool(true)]),
    ])
    try await scene.run { realms async throws in
      for host in ["cz.third.example", "codes.north.example", "localhost", "cz.north.example"] {
        let link = try await get("/v?c=0123456789abcdef", at: host, realms)
        let page = try await get("/report", at: host, realms)
        guard host == "cz.third.example" else {
          #expect(link.status == 404 && page.status == 404, "\(host)")
          continue
        }
        #expect(page.status == 200)
        #expect(link.headers["location"] == "https://app.third.example/#c=0123456789abcdef")
      }
    }
  }

  private func get(
    _ path: String, at host: String, _ realms: RunningRealms
  ) async throws -> LoopbackClient.Response {
    try await LoopbackClient.send(
      "GET", "http://127.0.0.1:\(realms.ports[.verification] ?? 0)\(path)",
      headers: [("host", host)])
  }

  @Test("An upload needs a token of the authority of its app and region")
  func uploads() async throws {
    try await Self.run { realms async throws in
      let apps = [
        "main": ("pl.gov.mc.protegosafe", "PL"), "north": ("org.example.north", "DE"),
        "south": ("org.example.south", "AT"),
      ]
      for owner in Self.all {
        for name in Self.all {
          let (app, region) = try #require(apps[name])
          let token = try await uploadToken(of: owner, realms)
          let upload = UploadRequest(
            data: UploadPayload(
              temporaryExposureKeys: [key()], regions: [region], platform: "android",
              appPackageName: app, verificationPayload: token))
          let body = String(decoding: try JSONEncoder().encode(upload), as: UTF8.self)
          let response = try await realms.send(
            "POST", .keys, of: Realm.main, KeyServerRoute.upload, body)
          #expect(response.status == (owner == name ? 200 : 403), "\(owner) for \(name)")
        }
      }
    }
  }

  private func key() -> UploadKey {
    let today = UInt32(SystemClock().now.timeIntervalSince1970 / 86_400) * 144
    return UploadKey(
      key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
      rollingStartNumber: today - 144, transmissionRisk: 8)
  }

  private func uploadToken(of name: String, _ realms: RunningRealms) async throws -> String {
    let apiToken = try #require(try realms.setup(of: name).apiTokens()?.first)
    let code = try #require(
      try await realms.send(
        of: name, VerificationRoute.generateCode, #"{"data":{}}"#,
        headers: [(VerificationRoute.apiTokenHeader, apiToken)]
      ).field("result"))
    let response = try await realms.send(
      of: name, VerificationRoute.accessToken, #"{"data":{"code":"\#(code)"}}"#)
    let json = try JSONSerialization.jsonObject(with: response.body) as? [String: Any]
    return try #require((json?["result"] as? [String: Any])?["accessToken"] as? String)
  }

  @Test("The console of a realm reaches the verification server of its realm, and no key server")
  func consoles() async throws {
    try await Self.run { realms async throws in
      let uuid = UUID()
      for name in RealmScene.names {
        let authority = try authority(of: name, realms)
        let issued = try await authority.issue(CodeRequest(uuid: uuid, testType: .confirmed))
        #expect(issued.uuid == uuid)
        await #expect(throws: AuthorityFailure.self) { _ = try await authority.instructions() }
        await #expect(throws: AuthorityFailure.self) { _ = try await authority.apps() }
        await #expect(throws: AuthorityFailure.self) {
          _ = try await authority.remoteConfiguration()
        }
        await #expect(throws: AuthorityFailure.self) { try await authority.pause(until: nil) }
      }
      let key = try #require(
        try realms.setup(of: "north").folder.consoleSecrets.read(ConsoleSecrets.self)?.apiKey)
      let stolen = try await realms.send(
        of: "south", VerificationRoute.issue, #"{"testType":"confirmed"}"#, apiKey: key)
      #expect(stolen.status == 401)
    }
  }

  private func authority(of name: String, _ realms: RunningRealms) throws -> FolderAuthority {
    let setup = try realms.setup(of: name)
    let secrets = try #require(try setup.folder.consoleSecrets.read(ConsoleSecrets.self))
    return FolderAuthority(
      setup: setup,
      codes: CodeSource(
        server: realms.verification, host: "127.0.0.1", realmHost: "codes.\(name).example",
        localKey: secrets.apiKey, remote: nil, remoteKey: nil,
        responseSeconds: Int64(Patience.seconds)), keyServer: nil, host: "127.0.0.1",
      files: ExportFiles())
  }

  @Test("A session and a password of one console are none at another, with accounts of one name")
  func sessions() async throws {
    try await Self.run { realms async throws in
      var cookies: [String: String] = [:]
      for owner in RealmScene.names {
        let account = try await realms.setup(of: owner).addAccount(
          name: "Anna", role: .administrator)
        // Refused first: an accepted one-time code cannot be used again.
        for name in RealmScene.names.filter({ $0 != owner }) + [owner] {
          // A code is accepted for half a minute.
          let isSignedIn = try await Patience.succeeds(within: 30) {
            let code = try #require(
              ConsoleAdministration.oneTimeCode(secret: account.codeSecret, at: SystemClock().now))
            let form = "name=Anna&password=\(account.password)&code=\(code)"
            let response = try await realms.send(
              "POST", .console, of: name, "/sign-in", form,
              type: "application/x-www-form-urlencoded")
            guard response.status == 303 else { return false }
            cookies[owner] = response.headers["set-cookie"]?.split(separator: ";").first
              .map(String.init)
            return true
          }
          #expect(isSignedIn == (name == owner), "\(owner) at \(name)")
        }
      }
      for owner in RealmScene.names {
        let cookie = try #require(cookies[owner])
        #expect(cookie.hasPrefix("__Host-"))
        for name in RealmScene.names {
          let page = try await realms.send(
            "GET", .console, of: name, "/own", headers: [("cookie", cookie)])
          #expect((page.status == 200) == (name == owner), "\(owner) at \(name)")
          guard name != owner else { continue }
          for path in Self.pages {
            let page = try await realms.send(
              "GET", .console, of: name, path, headers: [("cookie", cookie)])
            #expect(page.status != 200, "\(path) of \(name) for \(owner)")
          }
        }
      }
      let unknown = try await realms.send("GET", .console, of: "elsewhere", "/own")
      #expect(unknown.status == 421)
    }
  }

  @Test("A damaged database of a realm gives 503 at its hosts, and the others are served")
  func damaged() async throws {
    let scene = try RealmScene()
    try scene.addRealms()
    try await scene.run { _ in }
    let database = scene.setup.folder.folder(ofRealm: "north").verificationDatabase
    for suffix in ["-wal", "-shm"] {
      // The file may be missing.
      try? FileManager.default.removeItem(atPath: database.path + suffix)
    }
    try Data(repeating: 0x41, count: 8_192).write(to: database)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: database.path)
    try await scene.run { realms async throws in
      for (name, status) in [("main", 200), ("north", 503), ("south", 200)] {
        let response = try await realms.send("GET", of: name, VerificationRoute.keys)
        #expect(response.status == status, "\(name)")
      }
    }
  }

  @Test(
    "Lost secrets of a realm, and those of another one, stop no other", arguments: [true, false])
  func otherSecrets(areLost: Bool) async throws {
    let scene = try RealmScene()
    try scene.addRealms()
    try await scene.run { _ in }
    let folders = RealmScene.names.map { scene.setup.folder.folder(ofRealm: $0) }
    let secrets = folders.map(\.verificationSecrets.url)
    try FileManager.default.removeItem(at: secrets[0])
    if !areLost { try FileManager.default.copyItem(at: secrets[1], to: secrets[0]) }
    try await scene.run { realms async throws in
      for (name, status) in [("main", 200), ("north", 503), ("south", 200)] {
        let response = try await realms.send("GET", of: name, VerificationRoute.keys)
        #expect(response.status == status, "\(name)")
      }
    }
  }

  @Test("A fault of a realm that was served is an error of the reload")
  func reload() async throws {
    let scene = try RealmScene()
    try scene.addRealms()
    let realms = try ServedRealms(of: scene.setup.folder, ServerName.allCases)
    defer { withExtendedLifetime(realms) {} }
    try await realms.prepare(by: scene.setup, logger: RealmScene.logger)
    let first = try realms.verificationServers(by: scene.setup) { _ in RealmScene.logger }
    #expect(first.routes.count == 2)
    let north = scene.setup.folder.folder(ofRealm: "north").verificationSecrets.url
    try FileManager.default.removeItem(at: north)
    let failure = #expect(throws: CommandFailure.self) {
      _ = try realms.verificationServers(by: scene.setup) { _ in RealmScene.logger }
    }
    #expect(failure?.message.contains("north") == true)
  }
}
