import Foundation

/// An upload of either contract that has been checked and may be kept, if its token is still good for it.
struct AdmittedUpload: Sendable {
  /// The token or certificate it spends.
  let token: UsedToken
  /// The same for the same upload, whatever its padding: `UploadDigest`.
  let digest: Data
  /// What is to be published.
  let keys: [PublishableKey]
  /// What may become of keys that are in already.
  let revision: RevisionPolicy
  /// What is counted of it.
  let facts: UploadFacts
  /// What the phone is told, now and whenever it asks again, once it is known what was done.
  let answer: @Sendable (UploadOutcome) throws -> Data
}

extension AdmittedUpload: CustomStringConvertible, CustomReflectable {
  /// The number of keys only: the token's name would join a log line to them.
  var description: String { "AdmittedUpload(\(keys.count) keys)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
