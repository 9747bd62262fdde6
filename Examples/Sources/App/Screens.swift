// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// The first tab, as lines of text.
public struct ExposuresScreen {
  private let notifications: ExposureNotifications

  init(_ notifications: ExposureNotifications) {
    self.notifications = notifications
  }

  /// The status, the last check and the exposures.
  public var lines: [String] {
    let store = notifications.store
    var lines = ["Exposure notification: \(status)"]
    if let advice { lines.append(advice) }
    if let error = store.checkError { lines.append("Last check failed: \(error)") }
    if let last = store.checkState.lastCheck { lines.append("Last checked \(day(last)).") }
    lines.append("Past \(CheckState.retentionDays) days:")
    let exposures = store.checkState.exposures
    if exposures.isEmpty { lines.append("  No exposures.") }
    return lines
      + exposures.map { exposure in
        "  \(day(exposure.date)), at least \(Int(exposure.duration / 60)) minutes, "
          + "score \(exposure.totalRiskScore)"
      }
  }

  private var status: String {
    switch notifications.status {
    case .active: return "on"
    case .bluetoothOff: return "Bluetooth is off"
    case .disabled, .unauthorized: return "off"
    case .restricted: return "not allowed on this phone"
    default: return "unknown"
    }
  }

  private var advice: String? {
    switch (notifications.authorization, notifications.status) {
    case (.unknown, _): return "Switch it on in the onboarding."
    case (.notAuthorized, _), (.restricted, _): return "Allow it in the phone's settings."
    case (_, .bluetoothOff): return "Switch Bluetooth on."
    default: return nil
    }
  }

  private func day(_ date: Date) -> String {
    let (day, today) = (Self.number(of: date), Self.number(of: notifications.now()))
    switch today - day {
    case 0: return "today"
    case 1: return "yesterday"
    case let days: return "\(days) days ago"
    }
  }

  /// Days since 1970 in UTC.
  private static func number(of date: Date) -> Int {
    Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
  }
}

/// The second tab, as lines of text.
public struct NotifyOthersScreen {
  private let notifications: ExposureNotifications

  init(_ notifications: ExposureNotifications) {
    self.notifications = notifications
  }

  /// The possible action and the tests, newest first.
  public var lines: [String] {
    let tests = notifications.addedTests.map { test in
      "  \(test.id) of \(Self.day(test.dateAdministered)): \(test.isShared ? "shared" : "not shared")"
    }
    return [action] + (tests.isEmpty ? ["  No tests."] : tests)
  }

  private var action: String {
    switch notifications.authorization {
    case .authorized: return "Warn others after a positive test:"
    case .unknown: return "Switch exposure notification on to be able to warn others:"
    default: return "Allow exposure notification in the settings to be able to warn others:"
    }
  }

  private static func day(_ date: Date) -> String {
    String(ISO8601DateFormatter().string(from: date).prefix(10))
  }
}
