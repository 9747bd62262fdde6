// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import Settings
import Synchronization
import Terminal
import TestSupport
import Testing
import TextEncodings
import World

@testable import ServerOperations

@Suite("Folders with several authorities")
struct RealmFolderTests {
  private let scene: RealmScene

  init() throws { scene = try RealmScene() }

  private var folder: ServerFolder { scene.setup.folder }

  private func names() -> [String] { FileManager.default.names(in: folder.realmsFolder).sorted() }

  @Test("A realm has secrets, settings and token keys of its own, and is listed")
  func added() throws {
    #expect(try folder.realms.isEmpty)
    try scene.addRealms()
    #expect(names() == RealmScene.names)
    let facts = try scene.setup.realmFacts()
    #expect(facts.map(\.properties.name) == RealmScene.names)
    #expect(facts.map(\.issuer) == ["codes.north.example", "codes.south.example"])
    #expect(facts.map(\.origin) == RealmScene.names.map { "https://console.\($0).example" })
    let keys = try folder.realms.map { try $0.folder.tokenPublicKeys.read() }
    let secrets = try folder.realms.map {
      try #require(try VerificationSecrets.stored(in: $0.folder))
    }
    #expect(keys[0] != keys[1] && secrets[0].codeHashKey != secrets[1].codeHashKey)
    try scene.setup.checkRealms(withKeys: true)
  }

  @Test("The error of a damaged shared state names the database of the realm")
  func damagedState() throws {
    try scene.addRealms()
    let server = try scene.setup(of: "north").folder.server(.verification)
    let seal = SharedStateSeal(Data(repeating: 1, count: 32), of: server)
    let failure = #expect(throws: CommandFailure.self) {
      _ = try seal.content(of: SharedState(revision: 1, sealed: Data(repeating: 0, count: 40)))
    }
    #expect(failure?.message.contains("firebreak_verification_north ") == true)
  }

  @Test("A host, an issuer, an app or a region of another authority is refused without a trace")
  func shared() throws {
    let origin = "https://console.third.example"
    func refuse(
      _ properties: Realm.Properties, origin: String = origin, issuer: String = "third"
    ) {
      #expect(throws: CommandFailure.self, "\(properties)") {
        _ = try scene.setup.addRealm(properties, origin: origin, issuer: issuer)
      }
    }
    refuse(RealmScene.properties("third", region: "SK"))
    #expect(!FileManager.default.fileExists(atPath: folder.realmsFolder.path))
    try scene.addRealms()
    let free = RealmScene.properties("third", region: "CZ")
    for properties in [
      RealmScene.properties("north", region: "CZ"), RealmScene.properties("n0rth", region: "CZ"),
      RealmScene.properties("main", region: "CZ"), RealmScene.properties("../up", region: "CZ"),
      RealmScene.properties("third", hosts: ["codes.north.example"], region: "CZ"),
      RealmScene.properties("third", hosts: ["console.south.example"], region: "CZ"),
      RealmScene.properties("third", hosts: ["127.0.0.1"], region: "CZ"),
      RealmScene.properties("third", hosts: ["Codes.example"], region: "CZ"),
      RealmScene.properties("third", hosts: [], region: "CZ"),
      RealmScene.properties("third", region: "DE"), RealmScene.properties("third", region: "PL"),
      RealmScene.properties("third", region: "CZ", app: "org.example.north"),
      RealmScene.properties("third", region: "CZ", app: "pl.gov.mc.protegosafe"),
    ] {
      refuse(properties)
    }
    for origin in [
      "https://console.north.example", "http://localhost:8082", "https://codes.south.example",
      "https://127.0.0.1",
    ] {
      refuse(free, origin: origin)
    }
    refuse(free, issuer: "codes.north.example")
    #expect(names() == RealmScene.names)
    _ = try scene.setup.addRealm(free, origin: origin, issuer: "third")
    #expect(names() == RealmScene.names + ["third"])
  }

  @Test("A realm that does not exist, or whose servers run, is not removed")
  func running() throws {
    try scene.addRealms()
    #expect(throws: CommandFailure.self) { _ = try scene.setup.removeRealm("east") }
    let running = try ServedRealms(of: folder, ServerName.allCases)
    #expect(throws: CommandFailure.self) { _ = try scene.setup.removeRealm("north") }
    withExtendedLifetime(running) {}
    #expect(names() == RealmScene.names)
  }

  @Test("Consoles of realms need the verification server in their process")
  func onlyConsole() throws {
    _ = try ServedRealms(of: folder, [.console])
    try scene.addRealms()
    #expect(throws: CommandFailure.self) { _ = try ServedRealms(of: folder, [.console]) }
    _ = try ServedRealms(of: folder, [.verification])
    _ = try ServedRealms(of: folder, [.keys])
  }

  @Test("A new realm has the proxies of the installation, and leftovers are removed")
  func proxiesAndLeftovers() throws {
    try scene.setup.folder.verificationSettings.replace(
      "trustedProxies", with: .array([.string("192.0.2.1")]))
    try scene.setup.folder.consoleSettings.replace([
      "origin": .string("https://console.main.example"), "allowsPlainHTTP": .bool(true),
    ])
    try FileManager.default.createDirectory(
      at: folder.realmsFolder.appendingPathComponent(".new-1/keys"),
      withIntermediateDirectories: true)
    try scene.addRealms()
    #expect(names() == RealmScene.names)
    let north = folder.folder(ofRealm: "north")
    let proxies = try north.verificationSettings.read()?["trustedProxies"]
    #expect(proxies == .array([.string("192.0.2.1")]))
    #expect(try scene.setup(of: "north").consoleSettings().allowsPlainHTTP)
    try north.consoleSettings.replace("allowsPlainHTTP", with: .bool(false))
    #expect(throws: CommandFailure.self) { try scene.setup.checkRealms(withKeys: true) }
  }

  @Test("Links of texts at a host of no realm are refused, because main would get the codes")
  func links() throws {
    let properties = RealmScene.properties(
      "third", hosts: ["codes.third.example", "cz.third.example"], region: "CZ")
    let third = try scene.setup.addRealm(
      properties, origin: "https://console.third.example", issuer: "third")
    try FileManager.default.createDirectory(
      at: third.folder.verification.appendingPathComponent("sms"),
      withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    func set(_ domain: String) throws {
      try third.folder.verificationSettings.replace(
        "sms",
        with: .object([
          "region": .string("CZ"), "folder": .string("sms"), "linkDomain": .string(domain),
          "links": .object(["appPage": .string("https://app.third.example")]),
        ]))
    }
    try set("third.example")
    try scene.setup.checkRealms(withKeys: true)
    try set("main.example")
    let failure = #expect(throws: CommandFailure.self) {
      try scene.setup.checkRealms(withKeys: true)
    }
    #expect(failure?.message.contains("cz.main.example") == true)
  }

  @Test("A realm that the settings list and that has no folder is an error")
  func lost() throws {
    try scene.addRealms()
    let listed = JSONValue.array(RealmScene.names.map(JSONValue.string))
    #expect(try folder.keySettings.read()?["realms"] == listed)
    let north = folder.folder(ofRealm: "north").url
    try FileManager.default.moveItem(at: north, to: scene.folder.path("away"))
    let failure = #expect(throws: CommandFailure.self) { _ = try folder.realms }
    #expect(failure?.message.contains("restore FILE --realm north") == true)
    #expect(try folder.realms(except: nil).map(\.name) == ["south"])
    try FileManager.default.moveItem(at: scene.folder.path("away"), to: north)
    for name in RealmScene.names { _ = try scene.setup.removeRealm(name) }
    #expect(try folder.keySettings.read()?["realms"] == nil)
  }

  @Test("A change of the settings by another process stays while realms are listed there")
  func listedAtOnce() async throws {
    try scene.addRealms()
    let (folder, changes) = (folder, (1...50).map { "change\($0)" })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for change in changes {
          try FolderLock.withLockBlocking(on: folder.keys) {
            try folder.keySettings.replace(change, with: .bool(true))
          }
        }
      }
      group.addTask {
        let mark = RealmMark(in: folder)
        for _ in changes {
          try mark.add(["third"], to: [.keys])
          try mark.remove("third")
        }
      }
      try await group.waitForAll()
    }
    let settings = try folder.keySettings.read()
    let lost = changes.filter { settings?[$0] != .bool(true) }
    #expect(lost.isEmpty)
  }

  @Test("Settings that are a link stay one, and a start goes on if they cannot be written")
  func listedElsewhere() throws {
    try scene.addRealms()
    let (keys, kept) = (folder.keySettings, scene.folder.path("kept.json"))
    try FileManager.default.moveItem(at: keys.url, to: kept)
    try FileManager.default.createSymbolicLink(at: keys.url, withDestinationURL: kept)
    _ = try scene.setup.removeRealm("south")
    let type = FileManager.default.attributes(of: keys.url)?[.type] as? FileAttributeType
    #expect(type == .typeSymbolicLink)
    #expect(try SettingsFile(url: kept).read()?["realms"] == .array([.string("north")]))
    try keys.remove("realms")
    let verification = folder.verificationSettings.url
    FileManager.default.removeUnneeded(verification)
    try FileManager.default.createDirectory(at: verification, withIntermediateDirectories: false)
    let realms = try ServedRealms(of: folder, ServerName.allCases)
    #expect(try keys.read()?["realms"] == nil)
    var warnings: [String] = []
    realms.list(in: folder, ServerName.allCases) { warnings.append($0) }
    #expect(warnings.count == 1 && warnings[0].contains(verification.path))
    #expect(try keys.read()?["realms"] == .array([.string("north")]))
  }

  @Test("Consoles of realms that no other machine would reach are refused with TLS")
  func reachableConsoles() throws {
    try scene.setup.requireReachableConsoles(tlsHost: "0.0.0.0")
    try scene.addRealms()
    try scene.setup.requireReachableConsoles(tlsHost: "127.0.0.1")
    #expect(throws: CommandFailure.self) {
      try scene.setup.requireReachableConsoles(tlsHost: "0.0.0.0")
    }
  }

  @Test("A removed realm leaves nothing, and the last one leaves the folder as it was before")
  func removed() throws {
    let before = scene.folder.files().map(\.path).sorted()
    try scene.addRealms()
    #expect(try scene.setup.removeRealm("north").isEmpty)
    #expect(names() == ["south"])
    #expect(try scene.setup.removeRealm("south").isEmpty)
    #expect(scene.folder.files().map(\.path).sorted() == before)
    #expect(!FileManager.default.fileExists(atPath: folder.realmsFolder.path))
  }

  @Test("The folder of a realm is not served or administered as an installation of its own")
  func ownFolder() throws {
    try scene.addRealms()
    let path = folder.folder(ofRealm: "north").url.path
    #expect(throws: CommandFailure.self) { _ = try ServerFolder(existing: path) }
    #expect(throws: CommandFailure.self) { _ = try ServerFolder(path: path) }
    #expect(!FileManager.default.fileExists(atPath: path + "/keys"))
  }

  @Test("A damaged, renamed or incomplete realm is named, and other names are no realms")
  func damaged() throws {
    try scene.addRealms()
    let north = folder.folder(ofRealm: "north")
    let text = try Data(contentsOf: north.realmFile)
    let renamed = String(decoding: text, as: UTF8.self).replacing("north", with: "east")
    for damaged in ["", "{}", renamed] {
      try Data(damaged.utf8).write(to: north.realmFile)
      #expect(throws: CommandFailure.self) { _ = try folder.realms }
    }
    try text.write(to: north.realmFile)
    try FileManager.default.createDirectory(
      at: folder.realmsFolder.appendingPathComponent("north.replaced-1"),
      withIntermediateDirectories: true)
    #expect(try folder.realms.map(\.name) == RealmScene.names)
  }

  @Test("A folder of realms that cannot be read is not one without realms")
  func unreadable() throws {
    try Data().write(to: folder.realmsFolder)
    #expect(throws: CommandFailure.self) { _ = try folder.realms }
    #expect(throws: CommandFailure.self) { try scene.setup.checkRealms(withKeys: true) }
  }

  @Test("An interrupted restoration of a realm is named as the cause of missing files")
  func interrupted() throws {
    try scene.addRealms()
    let north = folder.folder(ofRealm: "north")
    let extracted = RestorationFolder.newExtraction(in: north.url)
    try FileManager.default.createDirectory(at: extracted, withIntermediateDirectories: false)
    #expect(try folder.realms.count == 2)
    let text = try Data(contentsOf: north.realmFile)
    try FileManager.default.removeItem(at: north.realmFile)
    let before = #expect(throws: CommandFailure.self) { _ = try folder.realms }
    #expect(before?.message.contains("interrupted") == true)
    try text.write(to: north.realmFile)
    try FileManager.default.moveItem(at: extracted, to: RestorationFolder.url(of: extracted))
    let moving = #expect(throws: CommandFailure.self) { _ = try folder.realms }
    #expect(moving?.message.contains("interrupted") == true)
  }

  @Test("The realms are in the new folder of main while it is restored, and stay after an error")
  func mainRestored() async throws {
    try scene.addRealms()
    try await scene.run { _ in }
    let backup = scene.folder.path("main.backup")
    _ = try await scene.setup.backUp(to: backup)
    let seen = Mutex<[Bool]>([])
    let realms = folder.realmsFolder.path
    let clock = ObservedClock {
      let isThere = FileManager.default.fileExists(atPath: realms)
      seen.withLock { $0.append(isThere) }
    }
    _ = try await Restoration(into: folder, replaces: true, clock: clock) { _ in }.restore(backup)
    let observed = seen.withLock { $0 }
    #expect(observed.count > 1 && !observed.contains(false))
    #expect(try folder.realms.map(\.name) == RealmScene.names)
    let damaged = scene.folder.path("damaged.backup")
    try Data("damaged".utf8).write(to: damaged)
    await #expect(throws: CommandFailure.self) {
      _ = try await Restoration(into: folder, replaces: true) { _ in }.restore(damaged)
    }
    #expect(try folder.realms.map(\.name) == RealmScene.names)
  }

  @Test("A realm whose host another one has got is not restored")
  func takenHost() async throws {
    try scene.addRealms()
    try await scene.run { _ in }
    let backup = scene.folder.path("north.backup")
    _ = try await scene.setup(of: "north").backUp(to: backup)
    _ = try scene.setup.removeRealm("north")
    let taken = RealmScene.properties("third", hosts: ["codes.north.example"], region: "CZ")
    _ = try scene.setup.addRealm(taken, origin: "https://console.third.example", issuer: "third")
    let restoration = Restoration(into: folder.folder(ofRealm: "north")) { _ in }
    let failure = await #expect(throws: CommandFailure.self) {
      _ = try await restoration.restore(backup)
    }
    #expect(failure?.message.contains("codes.north.example") == true)
    _ = try scene.setup.removeRealm("third")
    _ = try await restoration.restore(backup)
    #expect(try folder.realms.map(\.name) == RealmScene.names)
  }

  @Test(
    "Names of hosts and realms: letters, digits and hyphens, and no addresses",
    arguments: [
      ("codes.example", true), ("a.b-c.example", true), ("xn--bcher-kva.example", true),
      ("localhost", false), ("127.0.0.1", false), ("::1", false), ("a.example:80", false),
      ("A.example", false), ("a..example", false), (".example", false), ("a.example.", false),
      ("-a.example", false), ("a-.example", false), ("а.example", false), ("", false),
      (String(repeating: "a.", count: 123) + "example", true),
      (String(repeating: "a.", count: 124) + "example", false),
    ] as [(String, Bool)])
  func hosts(name: String, isHost: Bool) {
    #expect(Realm.isHost(name) == isHost)
  }

  @Test(
    "Lengths and letters of names of realms",
    arguments: [
      ("ab", true), ("a", false), (String(repeating: "a", count: 32), true),
      (String(repeating: "a", count: 33), false), ("main", false), ("a_b", false), ("1a", false),
      ("a1-", true), ("A1", false), ("..", false), ("a/b", false),
    ])
  func realmNames(name: String, isName: Bool) {
    #expect(Realm.isName(name) == isName)
  }
}

/// The machine's clock, which calls `observe` when the time is read.
private struct ObservedClock: WallClock {
  let observe: @Sendable () -> Void

  var now: Date {
    observe()
    return SystemClock().now
  }
  var reading: ClockReading { SystemClock().reading }

  func sleep(until deadline: Date) async throws { try await SystemClock().sleep(until: deadline) }
  func sleep(for seconds: TimeInterval) async throws {
    try await SystemClock().sleep(for: seconds)
  }
}
