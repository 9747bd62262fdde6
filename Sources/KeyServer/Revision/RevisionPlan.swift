import Foundation

/// What is to be done with all keys of an upload.
struct RevisionPlan: Sendable {
  var inserted: [PublishableKey] = []
  var revised: [PublishableKey] = []
  /// Those whose owner may revise them later: all that are in and were not refused.
  var revisable: Set<RevisableKey> = []

  /// The plan for `keys` of one upload, given which of them are `known`.
  ///
  /// - Throws: the refusal of the whole upload; nothing of it may then be done.
  init(
    for keys: [PublishableKey], under policy: RevisionPolicy, known: [Data: KnownKey]
  ) throws(RevisionRefusal) {
    inserted.reserveCapacity(keys.count)
    revisable.reserveCapacity(keys.count)
    for key in keys {
      let outcome = RevisionRule.outcome(
        of: key, known: known.isEmpty ? nil : known[Data(key.bytes)], under: policy)
      switch outcome {
      case .insert: inserted.append(key)
      case .revise: revised.append(key)
      case .leave: break
      case .drop: continue
      case .refuse(let refusal): throw refusal
      }
      revisable.insert(key.revisable)
    }
  }

  /// What was done, for the answer and the statistics.
  var outcome: UploadOutcome {
    UploadOutcome(inserted: inserted.count, revised: revised.count, revisable: revisable)
  }
}
