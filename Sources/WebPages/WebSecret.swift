// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import TextEncodings
import World

/// The secret of one start of the server. A page that has it, in a cookie that scripts cannot read, may use the bridge.
package struct WebSecret: Redacted, Sendable {
  private static let byteCount = 32

  private let text: String
  private let cookieName: String

  /// A new secret.
  ///
  /// - Parameter cookieName: The name of the cookie, to which the port is added.
  package init(randomness: any Randomness, cookieName: String = "firebreak") {
    self.cookieName = cookieName
    text = randomness.bytes(Self.byteCount).hexadecimal
  }

  /// The secret in 64 hexadecimal digits, for the address that is shown to the owner.
  package var hex: String { text }

  /// True if `text` is the secret.
  package func matches(_ text: some StringProtocol) -> Bool {
    isEqualInConstantTime(text.utf8, self.text.utf8)
  }

  /// True if the header `Cookie` has the secret of the server on `port`.
  package func isIn(cookies: String?, port: Int) -> Bool {
    CookieHeader.values(of: name(port), in: cookies).contains(where: matches)
  }

  /// The value of `Set-Cookie`. Cookies do not distinguish ports, so the name does.
  package func cookie(port: Int) -> String {
    "\(name(port))=\(text); Path=/; HttpOnly; SameSite=Strict"
  }

  private func name(_ port: Int) -> String { "\(cookieName)-\(port)" }
}

/// The header `Cookie` of a request.
package enum CookieHeader {
  /// The values of the cookies with a name. A browser sends several that were set for different paths.
  package static func values(of name: String, in header: String?) -> [String] {
    (header ?? "").split(separator: ";").compactMap { cookie in
      let parts = cookie.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name else {
        return nil
      }
      return parts[1].trimmingCharacters(in: .whitespaces)
    }
  }
}
