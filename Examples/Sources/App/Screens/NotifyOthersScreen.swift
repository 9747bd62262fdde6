import ExposureNotification
import Foundation

/// The second tab, as lines of text.
public struct NotifyOthersScreen {
  private let notifications: ExposureNotifications

  init(_ notifications: ExposureNotifications) {
    self.notifications = notifications
  }

  /// What can be done, and the tests, newest first.
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
