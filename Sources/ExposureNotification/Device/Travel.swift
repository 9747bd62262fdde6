import Foundation
import World

/// The device's travel history, the source of `getUserTraveled`.
///
/// The framework has no map; the program that creates the `Device` provides the history.
public protocol TravelHistory: Sendable {
  /// Returns `true` if the device has been outside `region` (ISO 3166) after `date`; nil if unknown.
  ///
  /// - Throws: if reading the history failed; the app's call then fails with `.unknown`.
  func hasLeft(_ region: String, since date: Date) async throws -> Bool?
}

extension Device {
  /// Returns `true` if the user has left the region within the retention period.
  package func hasTraveled() async throws -> Bool {
    try requireLatest()
    try requireEnabled()
    guard let travel else { throw ENError(.travelStatusNotAvailable) }
    if !state.consent.showsTravel {
      guard try await consentStore.allows(.showTravelStatus) else {
        throw ENError(.travelStatusNotAvailable)
      }
      try await mutex.withLock { try await self.consentStore.update { $0.showsTravel = true } }
    }
    let start = clock.now.addingTimeInterval(-Double(DeviceLimit.retentionDays) * Day.seconds)
    guard let hasLeft = try await travel.hasLeft(region.region, since: start) else {
      throw ENError(.travelStatusNotAvailable)
    }
    return hasLeft
  }
}
