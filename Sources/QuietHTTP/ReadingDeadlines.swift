import Synchronization

/// Ends the reading of bodies that takes too long, with one sleeper for all that are being read.
///
/// A timer of each connection's own would wake up its event loop twice in every request, to set it and to
/// take it back, and hardly one of them ever goes off. The time is the machine's own.
final class ReadingDeadlines: Sendable {
  typealias Act = @Sendable () -> Void
  typealias Instant = ContinuousClock.Instant

  /// How often the sleeper looks: so much too late a reading may end.
  static let pause = Duration.seconds(1)

  private let now: @Sendable () -> Instant
  private let sleep: @Sendable (_ until: Instant) async throws -> Void
  private let readings = Mutex(Readings())

  private struct Readings {
    var ends: [Int: (end: Instant, act: Act)] = [:]
    var count = 0
    var isWatched = false
  }

  /// By the machine's clock, unless another is handed in.
  init(
    now: @escaping @Sendable () -> Instant = { .now },
    sleep: @escaping @Sendable (_ until: Instant) async throws -> Void = {
      try await ContinuousClock().sleep(until: $0)
    }
  ) {
    self.now = now
    self.sleep = sleep
  }

  /// Does `act` after `seconds`, unless the reading of the number it returns is taken back before.
  func begin(seconds: Int, _ act: @escaping Act) -> Int {
    let end = now() + .seconds(seconds)
    let (number, isWatched) = readings.withLock { readings in
      readings.count += 1
      readings.ends[readings.count] = (end, act)
      defer { readings.isWatched = true }
      return (readings.count, readings.isWatched)
    }
    if !isWatched { Task { await watch() } }
    return number
  }

  /// Takes the reading of that number back.
  func end(_ number: Int) {
    readings.withLock { $0.ends[number] = nil }
  }

  /// Looks again and again for as long as something is being read.
  private func watch() async {
    repeat { try? await sleep(now() + Self.pause) } while endOverdue()
  }

  /// Whether anything is still being read.
  private func endOverdue() -> Bool {
    let now = now()
    let (overdue, isWatched) = readings.withLock { readings in
      let overdue = readings.ends.filter { $0.value.end <= now }
      for number in overdue.keys { readings.ends[number] = nil }
      readings.isWatched = !readings.ends.isEmpty
      return (overdue.values.map(\.act), readings.isWatched)
    }
    for act in overdue { act() }
    return isWatched
  }
}
