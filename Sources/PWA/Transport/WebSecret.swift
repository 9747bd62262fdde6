import Foundation
import Secrets
import World

/// The secret of one start of the server. A page that has it, in a cookie that scripts cannot read, may use the bridge.
package struct WebSecret: Redacted, Sendable {
  private static let byteCount = 32

  private let text: String

  /// A new secret.
  package init(randomness: any Randomness) {
    text = randomness.bytes(Self.byteCount)
      .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// The secret in 64 hexadecimal digits, for the address that is shown to the owner.
  package var hex: String { text }

  /// True if `text` is the secret.
  package func matches(_ text: some StringProtocol) -> Bool {
    isEqualInConstantTime(text.utf8, self.text.utf8)
  }

  /// True if the header `Cookie` has the secret of the server on `port`.
  package func isIn(cookies: String?, port: Int) -> Bool {
    let name = Self.name(port)
    return (cookies ?? "").split(separator: ";").contains { cookie in
      let parts = cookie.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name else {
        return false
      }
      return matches(parts[1].trimmingCharacters(in: .whitespaces))
    }
  }

  /// The value of `Set-Cookie`. Cookies do not distinguish ports, so the name does.
  package func cookie(port: Int) -> String {
    "\(Self.name(port))=\(text); Path=/; HttpOnly; SameSite=Strict"
  }

  private static func name(_ port: Int) -> String { "firebreak-\(port)" }
}
