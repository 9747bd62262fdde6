import Foundation
import World

extension Device {
  /// Whether the person has left the region in the retention period. Documentation/Framework.md 5.7.
  func hasTraveled() async throws -> Bool {
    try requireLatest()
    try requireEnabled()
    guard let travel else { throw ENError(.travelStatusNotAvailable) }
    if !standing.permission.showsTravel {
      guard try await permissions.allows(.showTravelStatus) else {
        throw ENError(.travelStatusNotAvailable)
      }
      try await turns.take { try await self.permissions.change { $0.showsTravel = true } }
    }
    let start = clock.now.addingTimeInterval(-Double(DeviceLimit.retentionDays) * Day.seconds)
    guard let hasLeft = try await travel.hasLeft(region.region, since: start) else {
      throw ENError(.travelStatusNotAvailable)
    }
    return hasLeft
  }

  /// Wakes the app: tells its managers why. Called by whoever plays the system: a scheduler when the
  /// app's regular check is due (`.periodicRun`), a notification when it is tapped. A reason that
  /// nobody hears yet waits for the first manager that is activated with a handler.
  public func wakeApp(for reason: ENActivityFlags) {
    activities.tell(reason)
  }
}
