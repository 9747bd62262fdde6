// SPDX-License-Identifier: Apache-2.0
import UserNotifications

extension UNNotificationCategory {
  static let newExposure = UNNotificationCategory(
    identifier: "new-exposure", actions: [], intentIdentifiers: [],
    hiddenPreviewsBodyPlaceholder: nil, categorySummaryFormat: "%u exposures",
    options: .hiddenPreviewsShowSubtitle)
}

extension UNNotification {
  var isAboutExposure: Bool {
    request.content.categoryIdentifier == UNNotificationCategory.newExposure.identifier
  }
}
