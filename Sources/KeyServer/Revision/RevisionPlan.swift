import Foundation

/// What is to be done with all keys of an upload.
struct RevisionPlan: Sendable {
  var inserted: [PublishableKey] = []
  var revised: [PublishableKey] = []
  /// Those whose owner may revise them later: all that are in and were not refused.
  var revisable: [RevisableKey] = []

  /// The plan for `keys` of one upload, given which of them are `known`.
  ///
  /// - Throws: the refusal of the whole upload; nothing of it may then be done.
  init(
    for keys: [PublishableKey], under policy: RevisionPolicy, known: [Data: KnownKey]
  ) throws(RevisionRefusal) {
    if known.isEmpty, keys.allSatisfy({ Self.isInserted($0, under: policy) }) {
      // As of nearly every upload: the list is shared then, and no key of it copied.
      (inserted, revisable) = (keys, keys.map(\.revisable))
      return
    }
    for key in keys {
      let outcome = RevisionRule.outcome(
        of: key, known: known[Data(key.bytes)], under: policy)
      switch outcome {
      case .insert: inserted.append(key)
      case .revise: revised.append(key)
      case .leave: break
      case .drop: continue
      case .refuse(let refusal): throw refusal
      }
      revisable.append(key.revisable)
    }
  }

  private static func isInserted(_ key: PublishableKey, under policy: RevisionPolicy) -> Bool {
    RevisionRule.outcome(of: key, known: nil, under: policy) == .insert
  }

  /// What was done, for the answer and the statistics.
  var outcome: UploadOutcome {
    UploadOutcome(inserted: inserted.count, revised: revised.count, revisable: revisable)
  }
}
