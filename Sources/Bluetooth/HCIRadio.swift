// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import World

/// A radio that uses a Bluetooth controller over HCI.
///
/// It works as long as `run()` does. A controller that fails, disappears or restarts is opened and set up
/// again; the same identifier is then sent from the same address as before.
///
/// ```swift
/// let radio = HCIRadio(try RadioAddress("hci:127.0.0.1:6402"))
/// async let running: Void = radio.run()
/// await radio.listen { scan in await store(scan) }
/// ```
public actor HCIRadio: Radio {
  private let port: any ControllerPort
  private let clock: any WallClock
  /// The clock for commands and connections, which take real time also in a simulation.
  private let machine: any WallClock
  private let randomness: any Randomness
  private let schedule: ScanSchedule
  private let report: @Sendable (HCIRadioEvent) -> Void

  private var beacon: Beacon?
  /// The last beacon that was asked for, also after a stop.
  private var lastBeacon: Beacon?
  private var receiver: (@Sendable (Scan) async -> Void)?
  /// Wakes the loop that drives an open controller.
  private var wakeUps: AsyncStream<WakeUp>.Continuation?
  /// Callers that wait until the controller does what they asked for.
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var scans: AsyncStream<Scan>.Continuation?
  /// The last beacon that was reported as sent; it is set up again with each controller.
  private var reportedBeacon: Beacon?

  /// True if a controller is open and set up.
  public private(set) var isPoweredOn = false

  /// Creates a radio for the controller at `address`.
  ///
  /// - Parameters:
  ///   - address: The address of the controller.
  ///   - clock: The clock of scans and sightings.
  ///   - machine: The clock of timeouts and retries, if `clock` is faster than real time.
  ///   - randomness: The source of the random addresses.
  ///   - schedule: The times of the scans.
  ///   - report: Receives changes of the state; must return at once.
  public init(
    _ address: RadioAddress, clock: any WallClock = SystemClock(),
    machine: (any WallClock)? = nil, randomness: any Randomness = SystemRandomness(),
    schedule: ScanSchedule = .phone,
    report: @escaping @Sendable (HCIRadioEvent) -> Void = { _ in }
  ) {
    self.init(
      port: address, clock: clock, machine: machine, randomness: randomness, schedule: schedule,
      report: report)
  }

  init(
    port: any ControllerPort, clock: any WallClock, machine: (any WallClock)? = nil,
    randomness: any Randomness, schedule: ScanSchedule,
    report: @escaping @Sendable (HCIRadioEvent) -> Void
  ) {
    self.port = port
    self.clock = clock
    self.machine = machine ?? clock
    self.randomness = randomness
    self.schedule = schedule
    self.report = report
  }

  /// Opens the controller and drives it until the task is cancelled, and then turns it off.
  ///
  /// Only one call may be active.
  public func run() async {
    let (stream, scans) = AsyncStream.makeStream(
      of: Scan.self, bufferingPolicy: .bufferingOldest(BluetoothLimit.waitingScansMax))
    self.scans = scans
    // Not a child task: scans that were received before the cancellation are still passed on.
    let delivery = Task { for await scan in stream { await receiver?(scan) } }
    var delay = BluetoothLimit.firstRetrySeconds
    while !Task.isCancelled {
      let ending = await openAndDrive()
      guard ending.error != .stopped else { break }
      if ending.wasReady { delay = BluetoothLimit.firstRetrySeconds }
      report(.failed(ending.error, retrySeconds: delay))
      await machine.sleepUnlessCancelled(for: delay)
      delay = min(2 * delay, BluetoothLimit.longestRetrySeconds)
    }
    scans.finish()
    await delivery.value
  }

  /// Sends `advertisement` from a new address, or from its previous one if it was the last to be sent.
  ///
  /// Returns when the controller sends it. If no controller is open, returns at once, and it is sent as soon
  /// as one is.
  public func advertise(_ advertisement: Advertisement) async {
    guard beacon?.advertisement != advertisement else { return }
    if lastBeacon?.advertisement != advertisement {
      lastBeacon = Beacon(advertisement: advertisement, address: PrivateAddress(randomness))
    }
    beacon = lastBeacon
    await apply()
  }

  public func stopAdvertising() async {
    beacon = nil
    await apply()
  }

  public func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {
    receiver = receive
    await apply()
  }

  public func stopListening() async {
    receiver = nil
    await apply()
  }

  private func apply() async {
    guard isPoweredOn, let wakeUps else { return }
    wakeUps.yield(.changed)
    await withCheckedContinuation { waiters.append($0) }
  }
}

extension HCIRadio {
  /// An event after which the controller's state is compared with the wanted state.
  private enum WakeUp: Equatable {
    /// The wanted state changed.
    case changed
    /// The scan or the pause with this timer is over.
    case timer(Int)
    /// The controller failed.
    case failed
  }

  private enum ScanPhase {
    case off
    case scanning(since: Date)
    case pausing
  }

  /// The loop that drives one open controller.
  private struct Drive {
    let host: HCIHost
    let wakeUps: AsyncStream<WakeUp>.Continuation
    var sent: Beacon?
    var phase = ScanPhase.off
    var timer: Task<Void, any Error>?
    var timerNumber = 0
    var session: ControllerSession

    init(host: HCIHost, wakeUps: AsyncStream<WakeUp>.Continuation) {
      self.host = host
      self.wakeUps = wakeUps
      session = ControllerSession(host: host)
    }
  }

  private struct Ending {
    let error: BluetoothError
    let wasReady: Bool
  }

  /// Opens the controller and drives it until it fails or the task is cancelled.
  private func openAndDrive() async -> Ending {
    let stream: any ByteStream
    do throws(BluetoothError) {
      stream = try await port.open()
    } catch {
      return Ending(error: Task.isCancelled ? .stopped : error, wasReady: false)
    }
    let (wakeUps, continuation) = AsyncStream.makeStream(of: WakeUp.self)
    let host = HCIHost(stream: stream, clock: clock, machine: machine)
    // Not a child task: after a cancellation, turning the controller off still needs the results.
    let reading = Task {
      _ = await host.run()
      continuation.yield(.failed)
    }
    self.wakeUps = continuation
    var drive = Drive(host: host, wakeUps: continuation)
    let error = await failure(of: &drive, wakeUps)
    let ending = Ending(error: error, wasReady: isPoweredOn)
    isPoweredOn = false
    self.wakeUps = nil
    drive.timer?.cancel()
    resume(waiters)
    waiters = []
    await passUnfinishedScan(of: drive)
    if error == .stopped {
      await Task { [session = drive.session] in await session.turnOff() }.value
    }
    stream.close()
    await reading.value
    return ending
  }

  /// Sets up the controller, drives it, and returns the failure that ended it.
  private func failure(
    of drive: inout Drive, _ wakeUps: AsyncStream<WakeUp>
  ) async -> BluetoothError {
    do throws(BluetoothError) {
      report(.ready(try await drive.session.start()))
      isPoweredOn = true
      drive.wakeUps.yield(.changed)
      for await wakeUp in wakeUps {
        let served = waiters
        waiters = []
        defer { resume(served) }
        try await step(&drive, wakeUp)
      }
      return .stopped
    } catch {
      return error
    }
  }

  private func resume(_ waiters: [CheckedContinuation<Void, Never>]) {
    for waiter in waiters { waiter.resume() }
  }
}

extension HCIRadio {
  /// Brings the controller into the wanted state, and ends a scan or a pause that is over.
  private func step(_ drive: inout Drive, _ wakeUp: WakeUp) async throws(BluetoothError) {
    if wakeUp == .failed { throw await drive.host.failure ?? .disconnected }
    try await updateBeacon(&drive)
    let isOver = wakeUp == .timer(drive.timerNumber)
    switch drive.phase {
    case .off:
      if receiver != nil { try await startScan(&drive) }
    case .scanning where receiver == nil, .pausing where receiver == nil:
      drive.timer?.cancel()
      drive.phase = .off
      try await drive.session.stopScan()
    case .scanning(let since):
      if isOver { try await endScan(&drive, since: since) }
    case .pausing:
      if isOver { try await startScan(&drive) }
    }
  }

  private func updateBeacon(_ drive: inout Drive) async throws(BluetoothError) {
    let wanted = beacon
    guard drive.sent != wanted else { return }
    try await drive.session.change(to: wanted)
    drive.sent = wanted
    guard let wanted, wanted != reportedBeacon else { return }
    reportedBeacon = wanted
    report(.advertising(wanted.advertisement, address: wanted.address.text))
  }

  private func startScan(_ drive: inout Drive) async throws(BluetoothError) {
    try await drive.session.startScan(sending: drive.sent)
    drive.phase = .scanning(since: clock.now)
    startTimer(&drive, seconds: schedule.scanSeconds)
  }

  private func endScan(_ drive: inout Drive, since start: Date) async throws(BluetoothError) {
    let beacons = try await drive.session.stopScan()
    drive.phase = .pausing
    pass(beacons, since: start)
    let pause = schedule.pauseSeconds(randomness)
    if pause > 0 {
      startTimer(&drive, seconds: pause)
    } else {
      try await startScan(&drive)
    }
  }

  private func startTimer(_ drive: inout Drive, seconds: TimeInterval) {
    drive.timer?.cancel()
    drive.timerNumber += 1
    let (number, wakeUps, clock) = (drive.timerNumber, drive.wakeUps, clock)
    drive.timer = Task {
      try await clock.sleep(for: seconds)
      wakeUps.yield(.timer(number))
    }
  }

  /// Passes on a scan that was interrupted by a failure or a stop, if it received a beacon.
  private func passUnfinishedScan(of drive: Drive) async {
    guard case .scanning(let start) = drive.phase else { return }
    let beacons = await drive.host.takeBeacons()
    if !beacons.sightings.isEmpty { pass(beacons, since: start) }
  }

  private func pass(_ beacons: CollectedBeacons, since start: Date) {
    if beacons.malformedCount + beacons.excessCount > 0 {
      report(
        .discarded(
          malformedReports: beacons.malformedCount, excessBeacons: beacons.excessCount))
    }
    let result = scans?.yield(Scan(time: start, sightings: beacons.sightings))
    if case .dropped = result { report(.scanDiscarded) }
  }
}

/// The times of scans: a scan, a pause of random length, and so on.
public struct ScanSchedule: Hashable, Sendable {
  /// The length of a scan.
  public let scanSeconds: TimeInterval
  /// The length of a pause, in milliseconds; each pause has another random length.
  public let pauseMilliseconds: ClosedRange<Int>

  /// Creates a schedule. A pause of 0 lets the next scan start at once.
  public init(scanSeconds: TimeInterval, pauseMilliseconds: ClosedRange<Int>) {
    self.scanSeconds = scanSeconds
    self.pauseMilliseconds = pauseMilliseconds
  }

  /// A phone's schedule: four seconds every three and a half to five minutes.
  ///
  /// A phone sends a beacon at least every 270 ms, so a scan hears each phone in range several times. The
  /// random pause keeps two phones from missing each other again and again.
  public static let phone = ScanSchedule(scanSeconds: 4, pauseMilliseconds: 206_000...296_000)

  /// Scans of one second without pauses.
  public static let continuous = ScanSchedule(scanSeconds: 1, pauseMilliseconds: 0...0)

  /// Draws the length of a pause.
  func pauseSeconds(_ randomness: some Randomness) -> TimeInterval {
    TimeInterval(randomness.number(in: pauseMilliseconds)) / 1_000
  }
}

/// A change of the radio's state, for logs and tools.
public enum HCIRadioEvent: Sendable {
  /// The controller is set up.
  case ready(ControllerDescription)
  /// The controller failed or could not be opened; it will be opened again after this many seconds.
  case failed(BluetoothError, retrySeconds: TimeInterval)
  /// This advertisement is now sent from this address, which is written as in `0a:1b:2c:3d:4e:5f`.
  case advertising(Advertisement, address: String)
  /// Parts of a scan that were not passed on: malformed reports, and beacons above the limit.
  case discarded(malformedReports: Int, excessBeacons: Int)
  /// Storing takes longer than scanning, and a whole scan was not passed on.
  case scanDiscarded
}

extension HCIRadioEvent: CustomStringConvertible {
  /// A sentence for a log, without identifiers and addresses.
  public var description: String {
    switch self {
    case .ready(let controller):
      "the controller is ready: HCI version \(controller.version), manufacturer \(controller.manufacturer)"
    case .failed(let error, let seconds): "\(error); will try again in \(Int(seconds)) s"
    case .advertising: "sending a new beacon from a new address"
    case .discarded(let malformed, let excess):
      "the scan had \(malformed) malformed reports and \(excess) beacons too many"
    case .scanDiscarded: "a scan was discarded, because earlier scans are still being stored"
    }
  }
}
