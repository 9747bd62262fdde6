// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// Objects that the app has seen, compared by identity.
final class SeenObjects {
  private var objects = Set<NSObject>()

  func insert(_ object: NSObject) -> Bool { objects.insert(object).inserted }
}

@available(iOS 16.0, *)
func clearBadge(of center: UNUserNotificationCenter) async throws {
  try await center.setBadgeCount(0)
}

func showBadge(_ count: Int, done: @escaping (Error?) -> Void) {
  if #available(iOS 16.0, *) {
    UNUserNotificationCenter.current().setBadgeCount(count, withCompletionHandler: done)
  }
}
