// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import PhoneProcess
import Simulation
import TextEncodings
import World

/// A town whose phones and servers are processes: places, clock, diagnoses, and what the phones report.
package actor LiveTown {
  private let residents: [Resident]
  private let map: TownMap
  private let air: SimulatedAir<ControllerBeacon>
  private let received: ReceptionLog
  private let clock: RehearsalClockFile
  private let machine: any WallClock
  private let official: HealthOfficial
  private let file: PeopleFile
  private let links: [String: String]
  private var walks: RandomWalks
  private var reports: [String: ResidentReport] = [:]
  private var diagnoses: [String: Date]
  private var pins: [String: String] = [:]
  private var issued: [TownFacts.Message] = []

  /// Creates a town; people are as they were in the file, or out of each other's range.
  ///
  /// - Parameters:
  ///   - residents: The people.
  ///   - air: The radio channel of their phones.
  ///   - received: The log of the beacons that they received.
  ///   - clock: The clock of all processes.
  ///   - official: The health authority that issues PINs.
  ///   - file: The file with the people of an earlier run.
  ///   - links: The addresses of the servers, for the page.
  ///   - machine: The clock of the machine, for pauses.
  ///   - randomness: The source of the goals of walks.
  package init(
    of residents: [Resident], on air: SimulatedAir<ControllerBeacon>, noting received: ReceptionLog,
    clock: RehearsalClockFile, official: HealthOfficial, people file: URL, links: [String: String],
    machine: any WallClock = SystemClock(), randomness: any Randomness
  ) {
    self.residents = residents
    self.air = air
    self.received = received
    self.clock = clock
    self.official = official
    self.links = links
    self.machine = machine
    map = TownMap(people: residents.count)
    self.file = PeopleFile(url: file)
    let known = self.file.stored
    let names = Set(residents.map(\.name))
    diagnoses = known.diagnoses.filter { names.contains($0.key) }
    var walks = RandomWalks(on: map, randomness: randomness)
    for name in known.walking.intersection(names).sorted() { walks.set(name, walks: true) }
    self.walks = walks
    for (index, resident) in residents.enumerated() {
      let place = known.places[resident.name] ?? map.start(index, of: residents.count)
      air.move(resident.name, to: map.clamped(place))
    }
  }

  /// Moves people and asks the phones until the task is cancelled.
  package func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.walk() }
      for resident in residents { group.addTask { await self.follow(resident) } }
    }
    store()
  }

  private func store() {
    let walking = residents.map(\.name).filter(walks.contains)
    file.store(
      StoredPeople(places: air.positions, walking: Set(walking), diagnoses: diagnoses))
  }

  package var facts: TownFacts {
    let scans = received.receivingScans
    let senders = air.senders
    let messages = residents.flatMap { resident in
      reports[resident.name, default: ResidentReport()].messages.map {
        TownFacts.Message($0, from: resident.name)
      }
    }
    let contacts = received.contacts.map { TownFacts.Message($0) }
    return TownFacts(
      time: clock.now.timeIntervalSince1970, rate: clock.rate, map: map,
      people: residents.map { person($0, scans: scans, senders: senders) },
      messages: Self.newest(
        Self.newest(messages + issued, LiveTownLimit.messagesMax)
          + Self.newest(contacts, LiveTownLimit.contactsMax), .max), links: links)
  }

  private static func newest(_ messages: [TownFacts.Message], _ count: Int) -> [TownFacts.Message] {
    Array(messages.sorted { ($0.time, $0.id) > ($1.time, $1.id) }.prefix(count))
  }

  private func person(
    _ resident: Resident, scans: [String: Int], senders: Set<String>
  ) -> TownFacts.Person {
    let name = resident.name
    let (place, report) = (air.positions[name], reports[name] ?? ResidentReport())
    return TownFacts.Person(
      name: name, x: place?.x ?? 0, y: place?.y ?? 0, walks: walks.contains(name),
      web: resident.web, isRunning: report.status != nil,
      isEnabled: report.status?.enabled ?? false, sends: senders.contains(name),
      receivingScans: scans[name] ?? 0, riskLevel: report.status?.riskLevel,
      lastCheck: report.status?.lastCheck, notices: report.status?.shownNotices ?? [],
      diagnosed: diagnoses[name]?.timeIntervalSince1970, pin: pins[name],
      uploads: report.messages.count { $0.kind == "upload" && $0.status == 200 })
  }

  /// Performs a command of the page.
  ///
  /// - Throws: `TownRefusal` with a sentence for the page.
  package func perform(_ command: TownCommand) async throws {
    switch command {
    case .move(let name, let place):
      try await move(try resident(name), to: place)
    case .join(let name, let other):
      let person = try resident(name)
      guard name != other, let place = air.positions[try resident(other).name] else {
        throw TownRefusal("Choose two different people.")
      }
      try await move(person, to: Position(x: place.x + (place.x > 1 ? -1 : 1), y: place.y))
    case .walk(let name, let isWalking):
      walks.set(try resident(name).name, walks: isWalking)
      store()
    case .rate(let rate): try clock.run(at: rate)
    case .jump(let seconds): try clock.jump(by: seconds)
    case .tomorrow: try clock.jumpToTomorrow()
    case .diagnose(let name): try diagnose(try resident(name))
    case .issue(let name): try await issue(to: try resident(name))
    case .check(let name): await check(try resident(name))
    }
  }

  private func resident(_ name: String) throws -> Resident {
    guard let resident = residents.first(where: { $0.name == name }) else {
      throw TownRefusal("There is no person of this name: reload the page.")
    }
    return resident
  }

  private func move(_ resident: Resident, to place: Position) async throws {
    guard place.x.isFinite, place.y.isFinite else {
      throw TownRefusal("Choose a place on the map.")
    }
    walks.set(resident.name, walks: false)
    air.move(resident.name, to: map.clamped(place))
    store()
  }

  /// Sets the clock to real time, because the PIN that an official issues next is valid for half an hour only.
  private func diagnose(_ resident: Resident) throws {
    try clock.run(at: 1)
    diagnoses[resident.name] = clock.now
    pins[resident.name] = nil
    store()
  }

  private func issue(to resident: Resident) async throws {
    guard diagnoses[resident.name] != nil else {
      throw TownRefusal("Only a diagnosed person gets a PIN: diagnose the person first.")
    }
    let time = Int(clock.now.unixSecond)
    let answer: HealthOfficial.Answer
    do {
      answer = try await official.requestCode()
    } catch {
      throw TownRefusal("The verification server issued no PIN: look into its log.")
    }
    pins[resident.name] = answer.code
    issued.append(
      TownFacts.Message(
        id: "issued-\(issued.count)", time: time, from: "official", to: "verificationServer",
        kind: "issue", sent: answer.bytesSent, received: answer.bytesReceived, status: 200,
        failure: nil))
  }

  private func check(_ resident: Resident) async {
    // The report below shows the result of the check, or that the phone does not answer.
    _ = try? await PhoneSocket.ask(
      PhoneRequest(.check), in: resident.folder, seconds: LiveTownLimit.answerSeconds)
    reports[resident.name] = await ResidentReport(of: resident)
  }
}

extension LiveTown {
  private func walk() async {
    var last = clock.now
    while await machine.sleepUnlessCancelled(for: LiveTownLimit.walkSeconds) {
      let now = clock.now
      for (name, place) in walks.step(air.positions, seconds: now.timeIntervalSince(last)) {
        air.move(name, to: place)
      }
      last = now
    }
  }

  /// Polls a phone until the task is cancelled.
  private func follow(_ resident: Resident) async {
    repeat {
      reports[resident.name] = await ResidentReport(of: resident)
    } while await machine.sleepUnlessCancelled(for: LiveTownLimit.pollingSeconds)
  }
}

/// A person of a town, with a phone that is a process of its own.
package struct Resident: Hashable, Sendable {
  /// The name in lower case, which is also that of the folder.
  package let name: String
  /// The folder of the phone.
  package let folder: URL
  /// The address of the phone's web app, with its secret.
  package let web: String

  package init(name: String, folder: URL, web: String) {
    self.name = name
    self.folder = folder
    self.web = web
  }

  /// The names of the first residents.
  package static let names = [
    "ada", "ben", "cleo", "dan", "eva", "filip", "gosia", "hana", "igor", "jan", "kasia", "leo",
  ]
}

/// The people of a town as they are stored: where they are, who walks, and who tested positive.
struct StoredPeople: Codable {
  var places: [String: Position] = [:]
  var walking: Set<String> = []
  var diagnoses: [String: Date] = [:]
}

/// The file with the people, so that they are as they were after a restart.
struct PeopleFile {
  let url: URL

  /// The people; none if the file is missing or damaged.
  var stored: StoredPeople {
    FileManager.default.contents(atPath: url.path).flatMap {
      JSONDecoder().decodeIfValid(StoredPeople.self, from: $0)
    }
      ?? StoredPeople()
  }

  /// Stores the people, if possible.
  func store(_ people: StoredPeople) {
    guard let data = JSONEncoder().encodeIfPossible(people) else { return }
    // Without the file, the people are at their first places after a restart.
    try? AtomicFile.write(data, to: url)
  }
}

/// A command that the town cannot perform, with a sentence for the page.
package struct TownRefusal: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Limits of a town.
package enum LiveTownLimit {
  /// The number of phones.
  package static let phones = 2...Resident.names.count
  /// The timeout of a phone's response, in seconds.
  package static let answerSeconds = 20
  /// The polling interval of a phone, in seconds.
  package static let pollingSeconds: TimeInterval = 1
  /// The interval of steps of people who walk, in seconds.
  package static let walkSeconds: TimeInterval = 0.2
  /// The maximum number of requests in the state of the page.
  package static let messagesMax = 200
  /// The maximum number of pairs of phones whose beacons are in the state of the page. They have a limit of their own,
  /// because beacons are always newer than the last request.
  static let contactsMax = 20
  /// The size of a command, in bytes.
  package static let commandBytesMax = 4_096
}
