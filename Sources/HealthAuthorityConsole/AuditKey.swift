// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets

/// The key of the chain of an audit log, derived from the console's secret.
package struct AuditKey: Redacted, Sendable {
  private let key: SymmetricKey

  init(_ keys: ConsoleKeys) {
    key = SymmetricKey(data: keys.code(of: Data(), for: .audit))
  }

  func code(of input: Data) -> Data {
    Data(HMAC<SHA256>.authenticationCode(for: input, using: key))
  }
}
