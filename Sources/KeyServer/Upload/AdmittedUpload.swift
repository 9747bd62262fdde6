import Foundation

/// An upload that has been checked and may be kept, if its token is still good for it.
struct AdmittedUpload: Sendable {
  /// Names the token.
  let tokenID: String
  /// Until when it must be remembered that the token is used: `UsedToken`.
  let tokenKeptUntil: Date
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
