// SPDX-License-Identifier: Apache-2.0
import Foundation

extension NSString {
  /// Returns the text for `key` in the bundle's language, with the arguments in place of its `%@`; the key if there is
  /// no text. Apple's system looks it up when the notification is shown.
  public class func localizedUserNotificationString(
    forKey key: String, arguments: [Any]?
  ) -> String {
    let format = Bundle.main.localizedString(forKey: key, value: nil, table: nil)
    guard let arguments, !arguments.isEmpty else { return format }
    return String(format: format, arguments: arguments.map { NSString(string: "\($0)") })
  }
}
