import ExposureKeys
import Foundation
import World

extension Device {
  /// Lives: sends, changes keys and identifiers, removes what is old. Until the task is cancelled;
  /// then the radio falls silent.
  public func run() async throws {
    do {
      while true {
        try await clock.sleep(until: await beat())
      }
    } catch {
      await silence()
      throw error
    }
  }

  /// Does everything that is due now and returns when something is due next.
  ///
  /// `run()` is nothing but this and sleep, so a town drives the same phone by its own clock.
  @discardableResult
  package func beat() async -> Date {
    let next = try? await turns.take { await self.doWhatIsDue() }
    return next ?? clock.now.addingTimeInterval(DeviceLimit.powerCheckSeconds)
  }

  /// What an app's manager asks when it is activated.
  func admitManager() async throws(ENError) {
    guard entitlements.contains(.exposureNotification) else { throw ENError(.notEntitled) }
    await beat()
  }

  /// One beat, in its turn.
  func doWhatIsDue() async -> Date {
    let now = clock.now
    standing.setPoweredOn(await radio.isPoweredOn)
    await beacons.prune(at: now)
    await contacts.prune(at: now)
    let latest = now.addingTimeInterval(DeviceLimit.powerCheckSeconds)
    guard standing.status == .active else {
      await fallSilent()
      return latest
    }
    await contacts.listen()
    guard let next = await beacons.send(at: now) else { return latest }
    return min(next, latest)
  }

  func fallSilent() async {
    await beacons.stop()
    await contacts.stop()
  }

  private func silence() async {
    // Not in a task of the cancelled caller: falling silent must not be cancelled as well.
    _ = try? await turns.take { await self.fallSilent() }
  }
}
