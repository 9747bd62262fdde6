// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Synchronization
import TestSupport
import World

@testable import Bluetooth

/// A radio with a fake controller and a manual clock, and everything that it reported.
final class RadioUnderTest: Sendable {
  static let start = Date(timeIntervalSince1970: 1_800_000_000)

  let controller = FakeController()
  let clock = ManualClock(RadioUnderTest.start)
  let radio: HCIRadio
  private let heard = Mutex<[Scan]>([])
  private let log: Log

  /// The events of the radio.
  private final class Log: Sendable {
    let events = Mutex<[HCIRadioEvent]>([])
  }

  init(schedule: ScanSchedule = .phone) {
    let log = Log()
    self.log = log
    radio = HCIRadio(
      port: controller, clock: clock, randomness: TestRandomness(), schedule: schedule
    ) { event in log.events.withLock { $0.append(event) } }
  }

  var events: [HCIRadioEvent] { log.events.withLock { $0 } }
  var scans: [Scan] { heard.withLock { $0 } }

  var failures: [BluetoothError] {
    events.compactMap { if case .failed(let error, _) = $0 { error } else { nil } }
  }

  var retrySeconds: [TimeInterval] {
    events.compactMap { if case .failed(_, let seconds) = $0 { seconds } else { nil } }
  }

  var readyCount: Int {
    events.count { if case .ready = $0 { true } else { false } }
  }

  /// Runs the radio as long as `body` runs.
  func run(_ body: () async throws -> Void) async throws {
    let running = Task { [radio] in await radio.run() }
    do {
      try await body()
    } catch {
      running.cancel()
      throw error
    }
    running.cancel()
    await running.value
  }

  /// Runs the radio as long as `body` runs, which starts when the controller is ready.
  func runReady(_ body: () async throws -> Void) async throws {
    try await run {
      try await Patience.until { await radio.isPoweredOn }
      try await body()
    }
  }

  /// Listens, and returns when the radio has done all that it has to do at this time.
  func listen() async {
    await radio.listen { [self] scan in heard.withLock { $0.append(scan) } }
  }

  /// Lets the next timer of the radio expire: that of a scan, a pause or a retry.
  func passTime(_ seconds: TimeInterval) async throws {
    try await Patience.until { clock.sleeperCount == 1 }
    clock.advance(by: seconds)
  }

  /// Ends the scan that is in progress and waits until it is passed on.
  func endScan() async throws {
    let count = scans.count
    try await passTime(4)
    try await Patience.until { scans.count > count }
  }

  /// Ends the pause between two scans and returns when the next scan is in progress.
  func endPause() async throws {
    try await passTime(296)
    try await Patience.until { controller.state.isScanning }
    await listen()
  }
}
