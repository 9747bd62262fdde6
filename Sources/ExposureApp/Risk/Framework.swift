import Dispatch
import ExposureNotification
import Foundation

/// The app's one `ENManager`, awaited. It is not Sendable and stays with the actor that holds it.
struct Framework {
  let manager: ENManager

  /// Takes `manager`, whose handlers come on a queue of their own from now on.
  init(_ manager: ENManager) {
    self.manager = manager
    manager.dispatchQueue = DispatchQueue(label: "ExposureApp.Framework")
  }

  var status: ENStatus { manager.exposureNotificationStatus }
  var isEnabled: Bool { manager.exposureNotificationEnabled }

  func activate() async throws { try await manager.activate() }

  func setEnabled(_ isEnabled: Bool) async throws {
    try await manager.setExposureNotificationEnabled(isEnabled)
  }

  /// The person's keys, after the person has agreed.
  func keys(transmissionRisk: Int) async throws -> [PendingUpload.Key] {
    try await manager.diagnosisKeys().map {
      PendingUpload.Key(
        data: $0.keyData, rollingPeriod: $0.rollingPeriod,
        rollingStartNumber: $0.rollingStartNumber, transmissionRisk: transmissionRisk)
    }
  }
}
