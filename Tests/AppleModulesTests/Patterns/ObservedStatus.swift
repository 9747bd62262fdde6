// SPDX-License-Identifier: Apache-2.0
import ExposureNotification

/// The status of the manager, as the app's pages show it.
final class StatusModel {
  private(set) var statuses: [ENStatus] = []
  private(set) var isEnabled = false
  private var observations = Set<NSKeyValueObservation>()

  func observe(_ manager: ENManager) {
    observations.insert(
      manager.observe(\.exposureNotificationStatus, options: [.initial, .new]) {
        [weak self] manager, change in
        self?.statuses.append(change.newValue ?? manager.exposureNotificationStatus)
      })
    observations.insert(
      manager.observe(\.exposureNotificationEnabled, options: .new) { [weak self] _, change in
        self?.isEnabled = change.newValue == true
      })
  }
}
