import Crypto
import Foundation
import Secrets

/// The keys that are derived from the secret of the database, one for each purpose.
///
/// A copy of the database alone decrypts nothing, and cannot be searched for a known token or upload.
struct DatabaseKeys: Redacted, Sendable {
  /// Encrypts the keys of revision tokens.
  let wrapping: SymmetricKey
  /// Hashes the names of used tokens.
  let tokens: SymmetricKey
  /// Hashes uploads, to recognize a repeated one.
  let uploads: SymmetricKey
  /// Chooses how counts in statistics are rounded.
  let rounding: SymmetricKey
  /// A value stored in the database that shows if it belongs to the secret.
  let check: Data

  init(_ secret: Data) {
    let secret = SymmetricKey(data: secret)
    func derived(_ purpose: String) -> Data {
      Data(HMAC<SHA256>.authenticationCode(for: Data(purpose.utf8), using: secret))
    }
    wrapping = SymmetricKey(data: derived("wrapping"))
    tokens = SymmetricKey(data: derived("tokens"))
    uploads = SymmetricKey(data: derived("uploads"))
    rounding = SymmetricKey(data: derived("rounding"))
    check = derived("check")
  }

  var description: String { "DatabaseKeys" }
}
