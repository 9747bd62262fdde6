import Foundation
import Logging
import World

/// One clock, one air and one seed for everybody.
///
/// Time passes only in `pass(until:)`: the town goes from one thing that is due to the next, lets the
/// phone concerned do it, waits until that is done, and goes on. So the same seed tells the same story.
public struct SimulatedTown: Sendable {
  /// The time.
  public let clock: SimulatedClock
  /// The air between the phones.
  public let air: SimulatedAir
  /// The chance.
  public let chance: SeededNames
  /// What everybody logs to.
  public let logger: Logger

  /// A town at `start` with nobody in it.
  public init(start: Date, seed: UInt64, logger: Logger) {
    chance = SeededNames(seed: seed)
    clock = SimulatedClock(now: start)
    air = SimulatedAir(randomness: chance.source("air"))
    self.logger = logger
  }

  /// How far apart a phone's scans lie, in seconds (Bluetooth Specification 1.2.2, "Scanning
  /// Behavior": often enough to find a neighbour within five minutes).
  public static let scanSeconds = 210...300

  /// Lets `phones` live until `end`.
  public func pass(until end: Date, phones: [SimulatedPhone]) async {
    var lives: [PhoneLife] = []
    for phone in phones {
      lives.append(
        await PhoneLife(phone, now: clock.now, chance: chance.source("scans of \(phone.name)")))
    }
    while let next = lives.indices.min(by: { lives[$0].due < lives[$1].due }),
      lives[next].due <= end
    {
      clock.advance(to: lives[next].due)
      await lives[next].doWhatIsDue(at: clock.now)
    }
    clock.advance(to: end)
  }
}
