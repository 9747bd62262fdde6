// SPDX-License-Identifier: Apache-2.0
import UserNotifications

/// The categories and the delegate of the center, in a protocol for objects.
protocol CategoryRegistering: NSObjectProtocol {
  var delegate: UNUserNotificationCenterDelegate? { get set }
  func setNotificationCategories(_ categories: Set<UNNotificationCategory>)
  func getNotificationCategories(
    completionHandler: @escaping (Set<UNNotificationCategory>) -> Void)
}

extension UNUserNotificationCenter: CategoryRegistering {}

/// Adds a category to the registered ones.
func extend(
  _ center: CategoryRegistering, with category: UNNotificationCategory,
  done: @escaping () -> Void
) {
  center.getNotificationCategories { categories in
    center.setNotificationCategories(categories.union([category]))
    done()
  }
}
