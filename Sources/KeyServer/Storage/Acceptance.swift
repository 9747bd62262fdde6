import Foundation

/// What became of an upload.
enum Acceptance: Hashable, Sendable {
  /// It is in, now or since earlier; this is the answer.
  case accepted(answer: Data)
  /// The token has been used for another upload.
  case tokenUsed
  /// A key that is in already may not become what the upload says; nothing was kept and nothing spent.
  case refused(RevisionRefusal)
}
