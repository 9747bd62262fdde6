// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Changes the content of a notification from a server before it is shown. A program that receives such
/// notifications calls it.
open class UNNotificationServiceExtension: NSObject {
  /// An extension.
  public override init() {}

  /// Passes the content to show to `contentHandler`: here the content of the request.
  open func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    contentHandler(request.content)
  }

  /// Called shortly before the time is over. The extension then passes on what it has.
  open func serviceExtensionTimeWillExpire() {}
}
