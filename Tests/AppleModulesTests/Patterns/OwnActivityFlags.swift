// SPDX-License-Identifier: Apache-2.0
import ExposureNotification

// Declarations of apps for iOS 12.5, whose SDK lacks these names.
struct ENActivityFlags: OptionSet {
  let rawValue: UInt32
  static let periodicRun = ENActivityFlags(rawValue: 1 << 2)
}

typealias ENActivityHandler = (ENActivityFlags) -> Void

extension ENManager {
  func setLaunchActivityHandler(activityHandler: @escaping ENActivityHandler) {
    let block: @convention(block) (UInt32) -> Void = { number in
      activityHandler(ENActivityFlags(rawValue: number))
    }
    setValue(block, forKey: "activityHandler")
  }
}

/// Calls `check` when the system wakes the app for its regular check.
func listen(to manager: ENManager, check: @escaping () -> Void) {
  manager.setLaunchActivityHandler { flags in
    if flags.contains(.periodicRun) { check() }
  }
}
