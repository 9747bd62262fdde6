import Foundation

/// An upload that has been checked and may be kept, if its token is still good for it.
struct AdmittedUpload: Sendable {
  /// Names the token.
  let tokenID: String
  /// When the token could no longer be used anyway.
  let tokenExpiresAt: Date
  /// The same for the same upload, whatever its padding: `UploadDigest`.
  let digest: Data
  /// What is to be published.
  let keys: [PublishableKey]
  /// What the phone is told, now and whenever it asks again.
  let answer: String
}

extension AdmittedUpload: CustomStringConvertible, CustomReflectable {
  /// The number of keys only: the token's name would join a log line to them.
  var description: String { "AdmittedUpload(\(keys.count) keys)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
