import ExposureNotification
import Foundation
import World

/// When a phone beats and scans next.
struct PhoneLife {
  private let phone: SimulatedPhone
  private let chance: any Randomness
  private var nextBeat: Date
  private var nextScan: Date

  init(_ phone: SimulatedPhone, now: Date, chance: any Randomness) async {
    self.phone = phone
    self.chance = chance
    nextBeat = await phone.device.beat()
    nextScan = now
    nextScan = scan(after: now)
  }

  var due: Date { min(nextBeat, nextScan) }

  mutating func doWhatIsDue(at now: Date) async {
    // The identifier on the air changes before anybody listens at the same moment.
    if nextBeat <= now {
      let next = await phone.device.beat()
      // A phone that wants to act at once acts with the next scan, so that time goes on.
      nextBeat = next > now ? next : max(nextScan, now.addingTimeInterval(1))
    }
    guard nextScan <= now else { return }
    await phone.radio.scan(at: now)
    nextScan = scan(after: now)
  }

  private func scan(after date: Date) -> Date {
    date.addingTimeInterval(Double(chance.number(in: SimulatedTown.scanSeconds)))
  }
}
