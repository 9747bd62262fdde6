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
  /// What becomes of it where none of its keys is in already, as of nearly every upload. It is worked out
  /// here, by as many at a time as there are cores, and not in the one transaction that all wait for.
  let usual: Course
  private let answer: @Sendable (UploadOutcome) throws -> Data

  /// What is done with the keys of an upload, and what the phone is told, now and whenever it asks again.
  struct Course: Sendable {
    let plan: RevisionPlan
    let answer: Data
  }

  /// An upload whose phone is told what `answer` gives, once it is known what was done.
  ///
  /// - Throws: What `answer` throws; nothing may be kept then.
  init(
    token: UsedToken, digest: Data, keys: [PublishableKey], revision: RevisionPolicy,
    facts: UploadFacts, answer: @escaping @Sendable (UploadOutcome) throws -> Data
  ) throws {
    self.token = token
    self.digest = digest
    self.keys = keys
    self.revision = revision
    self.facts = facts
    self.answer = answer
    let plan = try RevisionPlan(for: keys, under: revision, known: [:])
    usual = Course(plan: plan, answer: try answer(plan.outcome))
  }

  /// What becomes of it where some of its keys are `known`.
  ///
  /// - Throws: `RevisionRefusal` of the whole upload; what `answer` throws.
  func course(known: [Data: KnownKey]) throws -> Course {
    let plan = try RevisionPlan(for: keys, under: revision, known: known)
    return Course(plan: plan, answer: try answer(plan.outcome))
  }
}

extension AdmittedUpload: CustomStringConvertible, CustomReflectable {
  /// The number of keys only: the token's name would join a log line to them.
  var description: String { "AdmittedUpload(\(keys.count) keys)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
