// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird

/// The headers in which a browser states where a form comes from. Pages cannot change them, so that a form of another
/// site is recognized.
///
/// A header that occurs twice counts with its strictest value.
package struct FormOrigin: Sendable {
  /// The values of `Sec-Fetch-Site`; empty in old browsers and other programs.
  package let sites: [String]
  /// The values of `Origin`, such as `https://console.example`.
  package let origins: [String]

  /// The headers of `request`.
  package init(of request: Request) {
    sites = HTTPFields.Element.Name("sec-fetch-site").map { request.headers[values: $0] } ?? []
    origins = request.headers[values: .origin]
  }

  /// False if the browser says that the form is another site's.
  ///
  /// - Parameter allowsTyped: True to accept a request that no page has caused, such as that of a reloaded page.
  package func isSameSite(allowsTyped: Bool) -> Bool {
    sites.allSatisfy { $0 == "same-origin" || allowsTyped && $0 == "none" }
  }

  /// False if an origin is stated that is not the server's own.
  package func isOwn(_ isOwn: (String) -> Bool) -> Bool { origins.allSatisfy(isOwn) }

  /// The host of an origin with its port if that is named; nil for `null` and other texts without a host.
  package static func authority(of origin: String) -> String? {
    guard let url = URL(string: origin), let host = url.host else { return nil }
    return url.port.map { "\(host):\($0)" } ?? host
  }
}
