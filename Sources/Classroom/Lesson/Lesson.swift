// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureApp
import Foundation
import Secrets
import Simulation
import TextEncodings
import World

/// One lesson: the class with its phones, the health authority, the outbreak and the simulated clock.
///
/// Commands are carried out one after another, so a phone that joins while the clock runs waits until the end of the
/// hour. Pages read `state`, which is complete at every moment.
actor Lesson {
  /// Tells pages about changes.
  nonisolated let feed = LessonFeed()
  nonisolated let clock: any WallClock
  private(set) var state: LessonState

  let authority: SimulatedHealthAuthority
  let network: any Network
  var crowd: Crowd
  var outbreak: Outbreak
  var seats: [Seat] = []
  /// The end of the last whole hour. The simulated clock is ahead of it while an hour passes.
  var now: Date
  var isAutomatic = false
  var target: Date
  var curve: [LessonState.Sample] = []
  var news: LessonState.News?
  /// The end of the newest key file that the key server has published.
  var publishedUntil: Date?
  /// Resumes the clock when the teacher lets time pass.
  nonisolated let wake: AsyncStream<Void>.Continuation
  nonisolated let wakeUps: AsyncStream<Void>

  nonisolated let phonesMax: Int
  let hoursMax: Int
  private let randomness: any Randomness
  /// The numbers of the phones by the hash of the session.
  private var sessions: [SHA256Digest: Int] = [:]
  private var lastCommand: Task<Void, Never>?

  /// The start of each lesson: a Monday, 07:00.
  static let start = Date(unixSecond: 1_772_409_600 + 7 * 3_600)

  /// Creates an empty class with servers that already listen.
  ///
  /// - Parameters:
  ///   - clock: The real time, for the pace of the simulated clock.
  ///   - randomness: The source of the session secrets.
  init(
    world: SimulatedWorld, authority: SimulatedHealthAuthority, network: any Network, folder: URL,
    rules: OutbreakRules = OutbreakRules(), phonesMax: Int = ClassLimit.phonesMax,
    hoursMax: Int = ClassLimit.hoursMax, clock: any WallClock, randomness: any Randomness
  ) async {
    self.authority = authority
    self.network = network
    self.phonesMax = phonesMax
    self.hoursMax = hoursMax
    self.clock = clock
    self.randomness = randomness
    (wakeUps, wake) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    crowd = await Crowd(world: world, folder: folder, authority: authority, network: network)
    outbreak = Outbreak(rules: rules, sources: world.randomness)
    now = world.clock.now
    target = world.clock.now
    state = LessonState(start: world.clock.now, now: world.clock.now)
    state.phonesMax = phonesMax
  }

  /// Carries out `command` after all earlier ones, then updates `state`.
  ///
  /// - Throws: `LessonRefusal`.
  func perform<Value: Sendable>(
    _ command: @escaping @Sendable (isolated Lesson) async throws -> Value
  ) async throws -> Value {
    let earlier = lastCommand
    let task = Task { () throws -> Value in
      await earlier?.value
      do {
        let value = try await command(self)
        await publish()
        return value
      } catch {
        await publish()
        throw LessonRefusal(error)
      }
    }
    lastCommand = Task { _ = await task.result }
    return try await task.value
  }

  /// Carries out a command of the teacher. A refusal is shown on the teacher's page.
  func performForTeacher(
    _ command: @escaping @Sendable (isolated Lesson) async throws -> LessonState.News?
  ) async throws {
    try await perform { lesson in
      do {
        lesson.news = try await command(lesson)
      } catch {
        lesson.news = .refused(LessonRefusal(error))
        throw error
      }
    }
  }

  /// Updates `state` and notifies the pages that look different. Only commands call this, so no page shows a partial
  /// hour.
  private func publish() async {
    var next = LessonState(start: state.start, now: now)
    next.phonesMax = phonesMax
    next.phones = await phoneViews()
    next.isAutomatic = isAutomatic
    next.isRunning = isAutomatic || target > now
    next.curve = curve
    next.news = news
    let changed = next.changedPhones(from: state)
    state = next
    feed.send(.changed) { reader in
      if case .phone(let number) = reader { changed.contains(number) } else { false }
    }
    // Pages may have been opened or closed while the views were made.
    noteConnections()
  }

  /// Updates what the teacher's page says about the clock, also while an hour passes.
  func publishClock() {
    state.isAutomatic = isAutomatic
    state.isRunning = isAutomatic || target > now
    state.news = news
    feed.send(.changed) { $0 == .teacher }
  }

  /// Notes which browsers have a page open, for the teacher.
  func noteConnections() {
    let connected = feed.connectedPhones
    for index in state.phones.indices {
      state.phones[index].isConnected = connected.contains(state.phones[index].number)
    }
    feed.send(.changed) { $0 == .teacher }
  }
}

// MARK: The class

extension Lesson {
  /// Gives a browser a phone: one that was given back, or a new one.
  ///
  /// - Throws: `LessonRefusal.classIsFull`.
  func join() async throws -> (token: SessionToken, number: Int) {
    try await perform { lesson in
      let number = try await lesson.takeSeat()
      let token = SessionToken(
        text: lesson.randomness.bytes(SessionToken.byteCount).hexadecimal)
      lesson.sessions[Self.hash(token.text)] = number
      return (token, number)
    }
  }

  private func takeSeat() async throws -> Int {
    if let free = seats.firstIndex(where: \.isFree) {
      seats[free].isFree = false
      setRadio(of: free, on: true)
      return seats[free].number
    }
    guard seats.count < phonesMax else { throw LessonRefusal.classIsFull }
    let number = seats.count + 1
    var crowd = crowd
    try await crowd.add(Seat.name(number))
    self.crowd = crowd
    seats.append(Seat(number: number))
    return number
  }

  /// True if a browser can still join.
  var hasSeats: Bool { seats.count < phonesMax || seats.contains(where: \.isFree) }

  /// The number of the phone that the browser with this session holds; `nil` if there is none.
  func number(of session: String) -> Int? { sessions[Self.hash(session)] }

  /// Takes a phone back. It is off until the next browser joins.
  func leave(_ number: Int) async throws {
    try await perform { lesson in try lesson.refund(number) }
  }

  /// Takes a phone back for the teacher, because its browser will not come again.
  func free(_ number: Int) async throws {
    try await performForTeacher { lesson in
      try lesson.refund(number)
      return .freed(number)
    }
  }

  private func refund(_ number: Int) throws {
    let index = try index(of: number)
    sessions = sessions.filter { $0.value != number }
    seats[index].isFree = true
    setRadio(of: index, on: false)
  }

  /// Only the hash of a session is stored and looked up.
  private static func hash(_ session: String) -> SHA256Digest {
    SHA256.hash(data: Data(session.utf8))
  }

  func index(of number: Int) throws -> Int {
    guard seats.indices.contains(number - 1) else { throw LessonRefusal.unknownPhone }
    return number - 1
  }

  func setRadio(of index: Int, on isOn: Bool) {
    seats[index].isOn = isOn
    crowd.phones[index].radio.setPower(on: isOn)
  }
}

/// A place in the class: a person with a phone, and the parts of the lesson that concern them.
struct Seat: Sendable {
  /// The number on the phone, from 1.
  let number: Int
  var isOn = true
  /// True if the browser has given the phone back. The next browser that joins gets it.
  var isFree = false
  var test: TestMessage?
  /// The result of the last PIN entry.
  var upload: UploadOutcome?
  var diagnosis = DiagnosisFacts()

  /// The name of the phone in the simulation.
  var name: String { Self.name(number) }

  static func name(_ number: Int) -> String { "phone-\(number)" }

  static func number(_ name: String) -> Int? { Int(name.dropFirst("phone-".count)) }
}

/// The message of the health authority after a test.
enum TestMessage: Equatable, Sendable {
  case negative
  /// A positive test with the PIN for the upload, valid until a time of the simulated clock.
  case positive(IssuedPIN, until: Date)
}

/// A PIN that the person may read. It must not appear in logs.
struct IssuedPIN: Redacted, Equatable, Sendable {
  let text: String
}

/// The secret of a browser that holds a phone. The lesson stores only its hash.
struct SessionToken: Redacted, Sendable {
  static let byteCount = 32

  /// 64 hexadecimal digits.
  let text: String
}

/// A refusal of a command, which the page explains.
enum LessonRefusal: Error, Hashable, Sendable {
  /// All phones of the class are taken.
  case classIsFull
  /// The lesson has reached `ClassLimit.hoursMax`.
  case lessonIsOver
  /// There is no phone with this number.
  case unknownPhone
  /// The phone is off.
  case phoneIsOff
  /// Everyone has been infected.
  case allInfected
  /// A phone or a server failed; the text says more.
  case failed(String)

  init(_ error: any Error) {
    self = error as? LessonRefusal ?? .failed("\(error)")
  }
}
