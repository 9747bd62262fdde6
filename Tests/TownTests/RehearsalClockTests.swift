// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import TestSupport
import Testing
import World

@testable import Town

@Suite("Clock of a rehearsal", .timeLimit(.minutes(Patience.minutes)))
struct RehearsalClockTests {
  /// 2026-03-02 09:00 UTC.
  private static let start = Date(timeIntervalSince1970: 1_772_442_000)

  private let folder: TemporaryFolder
  private let file: URL
  private let machine = ManualClock(Date(timeIntervalSince1970: 1_000))

  init() throws {
    folder = try TemporaryFolder()
    file = folder.path("clock")
  }

  private func writer() throws -> RehearsalClockFile {
    try RehearsalClockFile(at: file, startingAt: Self.start, machine: machine)
  }

  private func reader() throws -> SimulatedClock {
    SimulatedClock(following: try RehearsalTime(file: file, machine: machine))
  }

  private func seconds(_ clock: some WallClock) -> TimeInterval {
    clock.now.timeIntervalSince(Self.start)
  }

  @Test("All readers follow real time, faster time and a stop")
  func rates() throws {
    let writer = try writer()
    let readers = try (0..<3).map { _ in try reader() }
    machine.advance(by: 1)
    #expect(readers.map(seconds) == [1, 1, 1])
    try writer.run(at: 60)
    machine.advance(by: 1)
    #expect(readers.map(seconds) == [61, 61, 61])
    try writer.run(at: 0)
    machine.advance(by: 1)
    #expect(readers.map(seconds) == [61, 61, 61])
    #expect(writer.now == readers[0].now)
  }

  @Test(
    "A rate outside the limits becomes the nearest one",
    arguments: [(-1.0, 0.0), (599, 599), (600, 600), (601, 600)])
  func rateLimits(asked: Double, set: Double) throws {
    let writer = try writer()
    try writer.run(at: asked)
    #expect(writer.rate == set)
  }

  @Test(
    "A jump of up to a day moves every reader; a longer one is shortened",
    arguments: [86_399.0, 86_400, 86_401])
  func jump(by asked: TimeInterval) throws {
    let writer = try writer()
    let readers = try (0..<3).map { _ in try reader() }
    try writer.jump(by: asked)
    #expect(readers.map(seconds) == [TimeInterval](repeating: min(asked, 86_400), count: 3))
    try writer.jump(by: -5)
    #expect(seconds(readers[0]) == min(asked, 86_400))
  }

  @Test("Tomorrow is the next day at 08:00, or a day later if that is more than a day away")
  func tomorrow() throws {
    let writer = try writer()
    let reader = try reader()
    try writer.jumpToTomorrow()
    #expect(seconds(reader) == 23 * 3_600)
    try writer.jump(by: 23 * 3_600)
    // It is 07:00.
    try writer.jumpToTomorrow()
    #expect(seconds(reader) == 70 * 3_600)
  }

  @Test("Sleepers of several readers wake when the clock jumps past their deadlines")
  func sleep() async throws {
    let writer = try writer()
    let readers = try (0..<3).map { _ in try reader() }
    let deadline = Self.start.addingTimeInterval(43_200)
    let sleepers = readers.map { reader in
      Task {
        try await reader.sleep(until: deadline)
        return reader.now
      }
    }
    try await Patience.until { machine.sleeperCount == 3 }
    try writer.jump(by: 43_200)
    machine.advance(by: RehearsalClockLimit.pollingSeconds)
    for sleeper in sleepers { #expect(try await sleeper.value >= deadline) }
  }

  @Test("A sleeper does not wake before its deadline, and a cancelled one throws")
  func notEarly() async throws {
    let writer = try writer()
    let reader = try reader()
    try writer.run(at: 10)
    let sleeper = Task { try await reader.sleep(for: 4) }
    for _ in 0..<2 {
      try await Patience.until { machine.sleeperCount == 1 }
      machine.advance(by: RehearsalClockLimit.pollingSeconds / 2)
    }
    try await Patience.until { machine.sleeperCount == 1 }
    #expect(seconds(reader) < 4)
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test("Without its writer the clock stops, and the next writer continues from there")
  func lease() throws {
    var lost: RehearsalClockFile? = try writer()
    try lost?.run(at: 600)
    let reader = try reader()
    machine.advance(by: RehearsalClockLimit.leaseSeconds - 0.5)
    #expect(seconds(reader) == 900)
    lost = nil
    machine.advance(by: 100_000)
    #expect(seconds(reader) == 1_200)
    let next = try RehearsalClockFile(at: file, startingAt: .distantFuture, machine: machine)
    #expect(next.rate == 1)
    machine.advance(by: 1)
    #expect(seconds(reader) == 1_201)
  }

  @Test("A running writer renews its lease, and stops the clock when it ends")
  func renewal() async throws {
    let writer = try writer()
    let reader = try reader()
    let running = Task { try await writer.run() }
    for _ in 0..<10 {
      try await Patience.until { machine.sleeperCount == 1 }
      machine.advance(by: RehearsalClockLimit.renewalSeconds)
    }
    try await Patience.until { machine.sleeperCount == 1 }
    #expect(seconds(reader) == 5)
    running.cancel()
    try await running.value
    machine.advance(by: 1)
    #expect(seconds(reader) == 5)
  }

  @Test("The monotonic time of the clock passes with its own time, also at a jump")
  func monotonic() throws {
    let writer = try writer()
    let reader = try reader()
    let before = reader.reading
    try writer.jump(by: 86_400)
    let after = reader.reading
    #expect(after.time.timeIntervalSince(before.time) == 86_400)
    #expect(after.uptime - before.uptime == 86_400)
  }

  @Test("A reader never goes back, also if the file does")
  func neverBack() throws {
    let writer = try writer()
    let reader = try reader()
    try writer.jump(by: 100)
    #expect(seconds(reader) == 100)
    let old = ClockState(
      uptime: machine.reading.uptime, time: Self.start.timeIntervalSince1970, rate: 1,
      leaseSeconds: 2)
    try JSONEncoder().encode(old).write(to: file)
    #expect(seconds(reader) == 100)
  }

  @Test(
    "A file that is not a clock is refused by both sides; a reader that has read one continues",
    arguments: ["", "{}", #"{"uptime":0,"time":0,"rate":601,"leaseSeconds":2}"#])
  func damaged(text: String) throws {
    let writer = try writer()
    let reader = try reader()
    try Data(text.utf8).write(to: file)
    machine.advance(by: 1)
    #expect(seconds(reader) == 1)
    #expect(throws: RehearsalClockError.unreadable(file.path)) { try self.reader() }
    #expect(throws: RehearsalClockError.unreadable(file.path)) { try self.writer() }
    #expect(seconds(writer) == 1)
  }

  private func seconds(_ writer: RehearsalClockFile) -> TimeInterval {
    writer.now.timeIntervalSince(Self.start)
  }

  @Test("A missing file is refused by a reader, and a folder that is missing by the writer")
  func missing() {
    #expect(throws: RehearsalClockError.unreadable(file.path)) { try reader() }
    let nowhere = folder.path("none/clock")
    #expect(throws: RehearsalClockError.unwritable(nowhere.path)) {
      try RehearsalClockFile(at: nowhere, startingAt: Self.start, machine: machine)
    }
  }
}

@Suite("Trust of servers in the clock of a rehearsal") struct RehearsalClockTrustTests {
  @Test("A server trusts a jump of the rehearsal by a day, and no such jump of the machine's clock")
  func trusted() async throws {
    let folder = try TemporaryFolder()
    let machine = ManualClock(Date(timeIntervalSince1970: 1_772_442_000))
    let writer = try RehearsalClockFile(
      at: folder.path("clock"), startingAt: machine.now, machine: machine)
    let reader = SimulatedClock(
      following: try RehearsalTime(file: folder.path("clock"), machine: machine))
    let record = ClockRecord(newest: machine.now)
    let rehearsed = TrustedTime(reader, record: { record }, keep: { _ in })
    let real = TrustedTime(machine, record: { record }, keep: { _ in })
    _ = try await rehearsed.now()
    _ = try await real.now()
    try writer.jump(by: 86_400)
    #expect(try await rehearsed.now() == machine.now.addingTimeInterval(86_400))
    machine.jump(by: 86_400)
    await #expect(throws: ImplausibleClock.self) { try await real.now() }
  }

  @Test("A server that starts again on a stopped rehearsal sees no gap")
  func pause() async throws {
    let folder = try TemporaryFolder()
    let machine = ManualClock(Date(timeIntervalSince1970: 1_772_442_000))
    let file = folder.path("clock")
    let record = ClockRecord(newest: machine.now)
    _ = try RehearsalClockFile(at: file, startingAt: machine.now, machine: machine)
    machine.advance(by: 30 * 86_400)
    _ = try RehearsalClockFile(at: file, startingAt: machine.now, machine: machine)
    let reader = SimulatedClock(following: try RehearsalTime(file: file, machine: machine))
    let time = TrustedTime(reader, record: { record }, keep: { _ in })
    #expect(abs(try await time.now().timeIntervalSince(try #require(record.newest))) < 60)
  }
}
