// SPDX-License-Identifier: Apache-2.0
import ExposureNotification

/// Sets the handler that the framework has.
func listenWithFramework(to manager: ENManager, check: @escaping (UInt32) -> Void) {
  manager.activityHandler = { flags in
    if flags.contains(.periodicRun) || flags.contains(.preAuthorizedKeyReleaseNotificationTapped) {
      check(flags.rawValue)
    }
  }
}
