// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The apps that open the links of texts, and the page for phones without one of them.
public struct SMSLinkTargets: Sendable, Hashable {
  /// The apps of Apple's systems, each as the team's id, a dot and the bundle id.
  public var appleApps: Set<String> = []
  /// The SHA-256 fingerprints of the signing certificates of Android apps, by package name, as `keytool` prints them:
  /// 32 bytes in hex with colons.
  public var androidApps: [String: String] = [:]
  /// The page that explains how to get the app, or opens a web app with the code. The code is in its fragment, which
  /// browsers do not send to servers.
  public var appPage: URL?

  /// Without apps and a page.
  public init() {}

  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validate() throws {
    guard
      appleApps.allSatisfy({ $0.wholeMatch(of: #/[A-Z0-9]{10}(\.[A-Za-z0-9\-]+)+/#) != nil })
    else {
      throw VerificationServerError.badConfiguration(
        "sms.links.appleApps: must be team ids of ten characters with a bundle id, such as"
          + " AB12CD34EF.org.example.app.")
    }
    guard
      androidApps.keys.allSatisfy({ $0.wholeMatch(of: #/[A-Za-z]\w*(\.[A-Za-z]\w*)+/#) != nil }),
      androidApps.values.allSatisfy({ $0.wholeMatch(of: #/[0-9A-F]{2}(:[0-9A-F]{2}){31}/#) != nil })
    else {
      throw VerificationServerError.badConfiguration(
        "sms.links.androidApps: must map package names to the SHA-256 of their certificate, 32 bytes in"
          + " upper-case hex with colons.")
    }
  }
}
