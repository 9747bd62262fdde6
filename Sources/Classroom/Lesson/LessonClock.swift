import ExposureApp
import Foundation
import KeyServer
import KeyServerAPI
import Simulation
import World

// The simulated clock, which moves in whole hours.

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
        if isAutomatic { try? await clock.sleep(for: ClassLimit.secondsPerHour) }
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
      .map { Date(timeIntervalSince1970: Double($0.endTimestamp)) }
  }

  private static let hourSeconds: TimeInterval = 3_600
}

// MARK: Views

extension Lesson {
  /// Adds a sample, or replaces that of the same moment.
  func noteCurve() {
    var sample = LessonState.Sample(time: now)
    for (seat, phone) in zip(seats, crowd.phones) {
      let health = outbreak.health(of: seat.name, at: now)
      if health != .well { sample.infected += 1 }
      if health == .ill { sample.ill += 1 }
      if seat.diagnosis.diagnosed != nil { sample.diagnosed += 1 }
      if !phone.notices.exposureNotices.isEmpty { sample.notified += 1 }
    }
    if curve.last?.time == now { curve.removeLast() }
    curve.append(sample)
  }

  func phoneViews() async -> [PhoneView] {
    let positions = crowd.itinerary.positions(at: now)
    let diagnoses = Dictionary(uniqueKeysWithValues: seats.map { ($0.name, $0.diagnosis) })
    let connected = feed.connectedPhones
    var views: [PhoneView] = []
    for (seat, (phone, position)) in zip(seats, zip(crowd.phones, positions)) {
      let app = await phone.app.currentState
      let cursor = await phone.app.cursor
      var view = PhoneView(number: seat.number)
      let isAtHome = seat.diagnosis.diagnosed != nil || seat.isFree
      view.position = isAtHome ? nil : PhoneView.Position(x: position.x, y: position.y)
      (view.isOn, view.isFree) = (seat.isOn, seat.isFree)
      view.isConnected = connected.contains(seat.number)
      (view.test, view.upload, view.diagnosis) = (seat.test, seat.upload, seat.diagnosis)
      view.health = outbreak.health(of: seat.name, at: now)
      view.noticeLevel = phone.notices.exposureNotices.last?.riskLevel
      view.receivingScanCount = phone.radio.receivingScanCount
      (view.exposureCount, view.lastCheck) = (app.exposureCount, app.lastCheck)
      view.checkFailed = app.lastFailure != nil
      view.outcome = outbreak.outcome(
        of: seat.name,
        phone: NoticeFacts(
          isNotified: view.noticeLevel != nil, publishedUntil: publishedUntil,
          checkedUntil: cursor.map { Date(timeIntervalSince1970: Double($0)) }),
        diagnoses: diagnoses)
      views.append(view)
    }
    return views
  }
}
