import ExposureNotification
import Foundation
import Logging
import World

/// The clock, the radio channel and the random sources that simulated phones and servers share.
///
/// Time passes only in `run(until:)`, which runs one due action after another and waits for each. So the
/// same seed gives the same run.
public struct SimulatedWorld: Sendable {
  /// The simulated time.
  public let clock: SimulatedClock
  /// The radio channel between the phones.
  public let air: SimulatedAir
  /// The random sources.
  public let randomness: SeededSources
  /// The logger of all phones and servers.
  public let logger: Logger

  /// Creates a world without phones.
  ///
  /// - Parameter recordsBeacons: True if the radio channel keeps all identifiers, for observers.
  public init(start: Date, seed: UInt64, recordsBeacons: Bool = true, logger: Logger) {
    randomness = SeededSources(seed: seed)
    clock = SimulatedClock(now: start)
    air = SimulatedAir(randomness: randomness.source("air"), records: recordsBeacons)
    self.logger = logger
  }

  /// The interval between two scans of a phone, in seconds. The Bluetooth specification demands that a
  /// nearby phone is found within five minutes.
  public static let scanSeconds = 210...300

  /// Runs the phones until `end`.
  public func run(until end: Date, phones: [SimulatedPhone]) async {
    var schedules: [PhoneSchedule] = []
    for phone in phones {
      schedules.append(
        await PhoneSchedule(
          phone, now: clock.now, randomness: randomness.source("scans of \(phone.name)")))
    }
    while let next = schedules.indices.min(by: { schedules[$0].due < schedules[$1].due }),
      schedules[next].due <= end
    {
      clock.advance(to: schedules[next].due)
      await schedules[next].runDue(at: clock.now)
    }
    clock.advance(to: end)
  }
}

/// The times of the next beat and the next scan of a phone.
struct PhoneSchedule {
  private let phone: SimulatedPhone
  private let randomness: any Randomness
  private var nextBeat: Date
  private var nextScan: Date

  init(_ phone: SimulatedPhone, now: Date, randomness: any Randomness) async {
    self.phone = phone
    self.randomness = randomness
    nextBeat = await phone.device.beat()
    nextScan = now
    nextScan = scan(after: now)
  }

  var due: Date { min(nextBeat, nextScan) }

  mutating func runDue(at now: Date) async {
    // The advertised identifier changes before other phones scan at the same time.
    if nextBeat <= now {
      let next = await phone.device.beat()
      // A beat that is due at once is delayed until the next scan, so that time advances.
      nextBeat = next > now ? next : max(nextScan, now.addingTimeInterval(1))
    }
    guard nextScan <= now else { return }
    await phone.radio.scan(at: now)
    nextScan = scan(after: now)
  }

  private func scan(after date: Date) -> Date {
    date.addingTimeInterval(Double(randomness.number(in: SimulatedWorld.scanSeconds)))
  }
}
