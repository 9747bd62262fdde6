import ExposureKeys
import Foundation
import Synchronization
import World

/// A radio for developers: it records the beacons that the phone sends and receives those that a command reports.
///
/// Beacons are also sent and received by the phone's radio, if it has one.
package final class DeveloperRadio: Radio {
  /// A beacon that the phone has sent.
  package struct Sent: Hashable, Sendable {
    package let beacon: Advertisement
    /// The start of sending.
    package let time: Date
  }

  private struct State {
    var sent: [Sent] = []
    var receive: (@Sendable (Scan) async -> Void)?
  }

  private let radio: (any Radio)?
  private let clock: any WallClock
  private let state = Mutex(State())

  /// Wraps `radio`; `nil` for a phone without Bluetooth.
  package init(_ radio: (any Radio)?, clock: any WallClock) {
    self.radio = radio
    self.clock = clock
  }

  /// The beacons sent since the start, oldest first.
  package var sent: [Sent] { state.withLock { $0.sent } }

  /// Forgets the beacons sent so far.
  package func forgetSent() { state.withLock { $0.sent = [] } }

  /// Passes on a scan as if the radio had received it. On return it is stored.
  ///
  /// - Returns: `false` if the phone is not listening.
  package func hear(_ scan: Scan) async -> Bool {
    guard let receive = state.withLock({ $0.receive }) else { return false }
    await receive(scan)
    return true
  }

  package var isPoweredOn: Bool {
    get async { await radio?.isPoweredOn ?? true }
  }

  package func advertise(_ advertisement: Advertisement) async {
    let sent = Sent(beacon: advertisement, time: clock.now)
    state.withLock { state in
      if state.sent.count >= DeveloperRadioLimit.sentMax { state.sent.removeFirst() }
      state.sent.append(sent)
    }
    await radio?.advertise(advertisement)
  }

  package func stopAdvertising() async {
    await radio?.stopAdvertising()
  }

  package func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {
    state.withLock { $0.receive = receive }
    await radio?.listen(receive)
  }

  package func stopListening() async {
    state.withLock { $0.receive = nil }
    await radio?.stopListening()
  }
}

/// A clock that is ahead of another one, or behind it: for developers who meet today and check tomorrow.
package struct ClockWithOffset: WallClock {
  private let clock: any WallClock
  private let seconds: TimeInterval

  /// The offsets that the command line accepts, in seconds: ten years.
  package static let offsets = -315_360_000...315_360_000

  /// A clock that is `seconds` ahead of `clock`.
  package init(_ clock: any WallClock, ahead seconds: Int) {
    self.clock = clock
    self.seconds = TimeInterval(seconds)
  }

  package var now: Date { clock.now.addingTimeInterval(seconds) }

  package var reading: ClockReading {
    let reading = clock.reading
    return ClockReading(time: reading.time.addingTimeInterval(seconds), uptime: reading.uptime)
  }

  package func sleep(until deadline: Date) async throws {
    try await clock.sleep(until: deadline.addingTimeInterval(-seconds))
  }

  /// The same on both clocks.
  package func sleep(for seconds: TimeInterval) async throws {
    try await clock.sleep(for: seconds)
  }
}

/// Limits of the radio for developers.
package enum DeveloperRadioLimit {
  /// The recorded beacons: those of two weeks.
  package static let sentMax = 2_100
}

/// The radio of a phone without Bluetooth: it sends and receives nothing.
package struct NoRadio: Radio {
  package let isPoweredOn: Bool

  /// Creates a radio that is always on or always off.
  package init(isPoweredOn: Bool) {
    self.isPoweredOn = isPoweredOn
  }

  package func advertise(_ advertisement: Advertisement) async {}

  package func stopAdvertising() async {}

  package func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {}

  package func stopListening() async {}
}
