// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

@MainActor
func keyValueObservationPage() async throws {
  let manager = try await SamplePhone().manager
  // Page: NSKeyValueObservation
  let observation = manager.observe(\.exposureNotificationEnabled) { manager, _ in
    print("enabled:", manager.exposureNotificationEnabled)
  }
  try await manager.setExposureNotificationEnabled(false)
  await drained(manager)
  observation.invalidate()
  try await manager.setExposureNotificationEnabled(true)
  // End of page.
  await drained(manager)
}

@MainActor
func keyValueObservingOptionsPage() async throws {
  let manager = try await SamplePhone().manager
  // Page: NSKeyValueObservingOptions
  let observation = manager.observe(\.exposureNotificationStatus, options: [.initial, .new]) {
    print($1.newValue ?? .unknown)
  }
  observation.invalidate()
  // End of page.
}

@MainActor
func keyValueObservedChangePage() async throws {
  let manager = try await SamplePhone().manager
  // Page: NSKeyValueObservedChange
  let observation = manager.observe(\.exposureNotificationStatus, options: [.old, .new]) {
    print($1.oldValue ?? .unknown, "before,", $1.newValue ?? .unknown, "now")
  }
  try await manager.setExposureNotificationEnabled(false)
  await drained(manager)
  observation.invalidate()
  // End of page.
}

@MainActor
func keyValueChangePage() async throws {
  let manager = try await SamplePhone().manager
  // Page: NSKeyValueChange
  let observation = manager.observe(\.exposureNotificationStatus, options: [.initial]) {
    print($1.kind)
  }
  observation.invalidate()
  // End of page.
}
