// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import Foundation
import Simulation
import TestSupport
import Testing
import World

@testable import Town

@Suite("Map of a town") struct TownMapTests {
  @Test("People start on the map and out of each other's range", arguments: 2...12)
  func start(count: Int) {
    let map = TownMap(people: count, range: 13)
    let places = (0..<count).map { map.start($0, of: count) }
    for (index, place) in places.enumerated() {
      #expect(map.clamped(place) == place)
      for other in places[(index + 1)...] { #expect(place.metres(to: other) > map.range) }
    }
  }

  @Test("A place outside the map becomes the nearest one on it")
  func clamped() {
    let map = TownMap(people: 6, range: 10)
    #expect(map.clamped(.init(x: -1, y: 3)) == Position(x: 0, y: 3))
    #expect(
      map.clamped(.init(x: map.width + 1, y: map.height + 1))
        == Position(x: map.width, y: map.height))
  }

  @Test("People who walk stay on the map and go at most four metres a step; others stay")
  func walks() {
    let map = TownMap(people: 2, range: 10)
    var walks = RandomWalks(on: map, randomness: SeededRandomness(seed: 1, name: "walks"))
    walks.set("ada", walks: true)
    var places = ["ada": map.start(0, of: 2), "ben": map.start(1, of: 2)]
    var length = 0.0
    for _ in 0..<200 {
      let moved = walks.step(places, seconds: 600)
      #expect(Set(moved.keys) == ["ada"])
      for (name, place) in moved {
        let step = places[name]?.metres(to: place) ?? .infinity
        #expect(step <= RandomWalks.stepMetresMax + 0.000_1)
        #expect(map.clamped(place) == place)
        length += step
        places[name] = place
      }
    }
    #expect(length > 100)
    walks.set("ada", walks: false)
    #expect(walks.step(places, seconds: 600).isEmpty)
  }

  @Test("While the clock stands still, people do not move")
  func stopped() {
    let map = TownMap(people: 2, range: 10)
    var walks = RandomWalks(on: map, randomness: SeededRandomness(seed: 1, name: "walks"))
    walks.set("ada", walks: true)
    let start = map.start(0, of: 2)
    #expect(walks.step(["ada": start], seconds: 0)["ada"] == start)
  }
}

@Suite("Live town") struct LiveTownTests {
  private let folder: TemporaryFolder
  private let air = SimulatedAir<ControllerBeacon>(
    randomness: SeededRandomness(seed: 1, name: "air"), calibration: .unknownModel)
  private let received = ReceptionLog { Date(timeIntervalSince1970: 0) }
  private let clock: RehearsalClockFile

  init() throws {
    folder = try TemporaryFolder()
    clock = try RehearsalClockFile(
      at: folder.path("clock"), startingAt: Date(timeIntervalSince1970: 1_772_442_000),
      machine: ManualClock(Date(timeIntervalSince1970: 0)))
  }

  /// A town whose phones do not run.
  private func town() -> LiveTown {
    LiveTown(
      of: ["ada", "ben"].map { Resident(name: $0, folder: folder.path($0), web: "http://\($0)") },
      on: air, noting: received, clock: clock,
      official: HealthOfficial(
        server: URL(fileURLWithPath: "/"), apiToken: "", network: NoNetwork()),
      people: folder.path("people.json"), links: [:], machine: ManualClock(Date()),
      randomness: SeededRandomness(seed: 1, name: "town"))
  }

  @Test("Walks and positive tests are restored by the next town on the folder")
  func people() async throws {
    let first = town()
    try await first.perform(.walk("ben", true))
    try await first.perform(.diagnose("ada"))
    let facts = await town().facts
    #expect(facts.people.map(\.walks) == [false, true])
    #expect(facts.people.map { $0.diagnosed != nil } == [true, false])
    try await first.perform(.walk("ben", false))
    #expect(await !town().facts.people[1].walks)
  }

  @Test("A position is clamped to the map, and restored by the next town on the folder")
  func places() async throws {
    let first = town()
    try await first.perform(.move("ada", .init(x: -3, y: 2)))
    #expect(await first.facts.people[0].x == 0)
    let next = town()
    #expect(await next.facts.people[0].x == 0)
    #expect(await next.facts.people[0].y == 2)
    try Data("[]".utf8).write(to: folder.path("people.json"))
    #expect(await town().facts.people[0].x > 0)
  }

  @Test("Joining puts a person a metre beside another one and ends their walk")
  func join() async throws {
    let town = town()
    try await town.perform(.walk("ben", true))
    #expect(await town.facts.people[1].walks)
    try await town.perform(.join("ben", "ada"))
    let (ada, ben) = (await town.facts.people[0], await town.facts.people[1])
    #expect(abs(ada.x - ben.x) == 1 && ada.y == ben.y)
    #expect(!ben.walks)
  }

  @Test(
    "A command for an unknown person, the same person twice or an invalid position is refused",
    arguments: [
      TownCommand.move("zoe", .init(x: 1, y: 1)), .walk("zoe", true), .diagnose("zoe"),
      .issue("zoe"), .issue("ada"),
      .join("ada", "ada"), .join("ada", "zoe"), .move("ada", .init(x: .nan, y: 1)), .check("zoe"),
    ])
  func refused(command: TownCommand) async {
    let town = town()
    await #expect(throws: TownRefusal.self) { try await town.perform(command) }
  }

  @Test("Without a verification server there is no PIN")
  func noServer() async throws {
    let town = town()
    try await town.perform(.diagnose("ada"))
    #expect(await town.facts.people[0].diagnosed == town.facts.time)
    await #expect(throws: TownRefusal.self) { try await town.perform(.issue("ada")) }
    #expect(await town.facts.people[0].pin == nil)
    #expect(await town.facts.messages.isEmpty)
  }

  @Test("Of the beacons between many phones the feed shows 20, so that requests have room")
  func crowd() async {
    let names = Array(Resident.names.prefix(12))
    for (index, name) in names.enumerated() {
      air.move(name, to: .init(x: 5, y: 5))
      air.set(ControllerBeacon(address: [UInt8(index)], payload: [1]), from: name)
    }
    for name in names {
      var generator = air.generator(of: name)
      for _ in 0..<10 { received.note(air.scan(by: name, &generator), by: name) }
    }
    #expect(received.contacts.count > 60)
    #expect(await town().facts.messages.count { $0.kind == "beacon" } == 20)
  }

  @Test("The clock follows the commands of the page")
  func time() async throws {
    let town = town()
    try await town.perform(.rate(60))
    #expect(await town.facts.rate == 60)
    try await town.perform(.jump(seconds: 3_600))
    #expect(await town.facts.time == 1_772_445_600)
    try await town.perform(.tomorrow)
    #expect(await town.facts.time == 1_772_524_800)
  }

  @Test("Commands are read from JSON, and others are refused")
  func decoding() throws {
    func command(_ text: String) throws -> TownCommand {
      try JSONDecoder().decode(TownCommand.self, from: Data(text.utf8))
    }
    #expect(
      try command(#"{"action":"move","name":"ada","x":1,"y":2.5}"#)
        == .move("ada", .init(x: 1, y: 2.5)))
    #expect(try command(#"{"action":"join","name":"ada","other":"ben"}"#) == .join("ada", "ben"))
    #expect(try command(#"{"action":"walk","name":"ada","walks":true}"#) == .walk("ada", true))
    #expect(try command(#"{"action":"rate","rate":60}"#) == .rate(60))
    #expect(try command(#"{"action":"jump","seconds":9}"#) == .jump(seconds: 9))
    #expect(try command(#"{"action":"tomorrow"}"#) == .tomorrow)
    #expect(try command(#"{"action":"diagnose","name":"ada"}"#) == .diagnose("ada"))
    #expect(try command(#"{"action":"check","name":"ada"}"#) == .check("ada"))
    for text in [#"{"action":"erase"}"#, #"{"action":"move","name":"ada"}"#, "{}", "[]"] {
      #expect(throws: DecodingError.self) { try command(text) }
    }
  }
}

/// A network without any server.
private struct NoNetwork: Network {
  var connection: NetworkConnection { .wifi }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    throw NetworkFailure.unreachable
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    throw NetworkFailure.unreachable
  }
}
