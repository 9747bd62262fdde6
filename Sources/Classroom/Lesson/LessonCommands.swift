// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import KeyServer
import KeyServerAPI
import Simulation
import World

// The commands of pupils and of the teacher, and the advance of the simulated clock.

// MARK: Phones and people

extension Lesson {
  /// Switches a phone off or on. A phone that is off sends, receives and checks nothing.
  func setPower(of number: Int, on isOn: Bool) async throws {
    try await perform { lesson in lesson.setRadio(of: try lesson.index(of: number), on: isOn) }
  }

  /// Lets a phone check for keys now, as its user may.
  func check(_ number: Int) async throws {
    try await perform { lesson in
      let phone = try lesson.phone(number)
      _ = await phone.app.check()
      lesson.noteCurve()
    }
  }

  /// Enters a PIN on a phone, and so agrees to share its keys.
  func enterPIN(_ text: String, on number: Int) async throws -> UploadOutcome {
    try await perform { lesson in
      let phone = try lesson.phone(number)
      let outcome = await phone.app.upload(pin: text, isInteroperabilityEnabled: false)
      lesson.noteUpload(outcome, index: try lesson.index(of: number))
      return outcome
    }
  }

  private func phone(_ number: Int) throws -> SimulatedPhone {
    let index = try index(of: number)
    guard seats[index].isOn else { throw LessonRefusal.phoneIsOff }
    return crowd.phones[index]
  }

  private func noteUpload(_ outcome: UploadOutcome, index: Int) {
    seats[index].upload = outcome
    let number = seats[index].number
    guard outcome.result == .success else { return news = .uploadFailed(number) }
    seats[index].diagnosis.noteUpload(at: now)
    news = .uploaded(number)
  }

  /// Tests a person. The test is positive as soon as the person is infectious; then the health authority issues a PIN,
  /// and the person stays at home.
  func test(_ number: Int) async throws {
    try await performForTeacher { lesson in
      let index = try lesson.index(of: number)
      let seat = lesson.seats[index]
      guard lesson.outbreak.health(of: seat.name, at: lesson.now).infects else {
        lesson.seats[index].test = .negative
        return .testNegative(number)
      }
      let official = await lesson.authority.official(network: lesson.network)
      let pin = IssuedPIN(text: try await official.issueCode())
      let end = lesson.now.addingTimeInterval(ClassLimit.codeLifetimeSeconds)
      lesson.seats[index].test = .positive(pin, until: end)
      lesson.seats[index].diagnosis.diagnosed = seat.diagnosis.diagnosed ?? lesson.now
      lesson.noteCurve()
      return .testPositive(number)
    }
  }

  /// Infects one person who is drawn from the seed.
  func infectOne() async throws {
    try await performForTeacher { lesson in
      let names = lesson.seats.filter { !$0.isFree }.map(\.name)
      guard let name = lesson.outbreak.infectOne(of: names, at: lesson.now),
        let number = Seat.number(name)
      else { throw LessonRefusal.allInfected }
      lesson.noteCurve()
      return .infectionStarted(number)
    }
  }
}

// MARK: The clock, which moves in whole hours

extension Lesson {
  /// Lets one simulated hour pass.
  func startHour() { start(until: max(target, now).addingTimeInterval(Self.hourSeconds)) }

  /// Lets time pass until the next 07:00.
  func startUntilMorning() {
    let day = 24 * Self.hourSeconds
    let days = ((now.timeIntervalSince(state.start)) / day).rounded(.down) + 1
    start(until: state.start.addingTimeInterval(days * day))
  }

  /// Starts or stops the automatic clock, which runs until it is stopped.
  func setAutomatic(_ isAutomatic: Bool) {
    self.isAutomatic = isAutomatic
    if !isAutomatic { target = now }
    publishClock()
    wake.yield()
  }

  private func start(until date: Date) {
    target = min(date, end)
    news = target > now ? nil : .refused(.lessonIsOver)
    publishClock()
    wake.yield()
  }

  /// The last moment of the lesson.
  private var end: Date {
    state.start.addingTimeInterval(Double(hoursMax) * Self.hourSeconds)
  }

  /// Advances the clock to its target, which the teacher sets, until the task is cancelled.
  func runClock() async {
    for await _ in wakeUps {
      while !Task.isCancelled, isAutomatic || target > now {
        if now >= end {
          isAutomatic = false
          news = .refused(.lessonIsOver)
        } else {
          await runHour()
        }
        if isAutomatic { await clock.sleepUnlessCancelled(for: ClassLimit.secondsPerHour) }
      }
      publishClock()
    }
  }

  /// Lets one hour pass. After a failure the clock stops, and the teacher may start it again.
  private func runHour() async {
    do {
      try await perform { lesson in try await lesson.advanceHour() }
    } catch {
      (isAutomatic, target) = (false, now)
      news = .refused(LessonRefusal(error))
    }
  }

  /// Simulates all phones and people for an hour. Then the key server publishes the keys that are due, and phones
  /// check.
  private func advanceHour() async throws {
    let start = now
    let off = Set(seats.filter { !$0.isOn }.map(\.name))
    let isolated = Set(seats.filter { $0.diagnosis.diagnosed != nil || $0.isFree }.map(\.name))
    outbreak.pass(
      minutes: 60, from: start, distances: crowd.distances(without: isolated),
      isOn: { !off.contains($0) })
    await crowd.meet(
      until: start.addingTimeInterval(Self.hourSeconds), off: off, absent: isolated)
    now = crowd.world.clock.now
    try await authority.keyServer.exportDue()
    publishedUntil = try await newestFileEnd()
    await crowd.checkForKeys(off: off)
    noteCurve()
  }

  /// The end of the newest published file, from the index that phones read as well.
  private func newestFileEnd() async throws -> Date? {
    let url = await authority.keyServerURL.appendingPathComponent(KeyServerRoute.index)
    let response = try await network.send(
      NetworkRequest(url, responseBytesMax: KeyFileIndex.bytesMax))
    return KeyFileIndex.parse(String(decoding: response.body, as: UTF8.self)).names.last
      .map { Date(unixSecond: $0.endTimestamp) }
  }

  private static let hourSeconds: TimeInterval = 3_600
}
