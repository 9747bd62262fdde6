// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A notification that is delivered.
open class UNNotification: NSObject, NSCopying {
  /// The date of delivery.
  open private(set) var date: Date
  /// The app's request.
  open private(set) var request: UNNotificationRequest

  init(request: UNNotificationRequest, date: Date) {
    self.request = request
    self.date = date
  }

  /// Returns this object, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotification else { return false }
    return date == other.date && request == other.request
  }

  open override var hash: Int { request.hash }
}
