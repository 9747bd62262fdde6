// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import Settings
import Terminal
import TestSupport
import Testing
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
