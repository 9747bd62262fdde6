import ExposureKeys
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

/// What was done with the keys of an upload.
struct UploadOutcome: Hashable, Sendable {
  /// Keys that are in now and were not before.
  var inserted = 0
  /// Keys that became something else.
  var revised = 0
  /// Keys that their owner may revise later.
  var revisable: [RevisableKey] = []
}

extension UploadOutcome: CustomStringConvertible, CustomReflectable {
  var description: String { "UploadOutcome(\(inserted) inserted, \(revised) revised)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What is counted of one upload, and nothing of whose it was.
struct UploadFacts: Hashable, Sendable {
  let issuer: String
  let platform: StatisticPlatform
  /// Unix seconds of the hour it came in.
  let hour: Int64
  /// Days since the oldest key's day; nil without keys.
  let oldestKeyDays: Int?
  /// Days since the onset of symptoms; nil where nobody said.
  let onsetDays: Int?

  init(
    issuer: String, platform: StatisticPlatform, onset: SymptomOnset, keys: [PublishableKey],
    at now: Date
  ) {
    self.issuer = issuer
    self.platform = platform
    hour = StatisticTally.hour(of: now)
    let today = IntervalNumber(now)?.startOfDay
    func days(since day: IntervalNumber) -> Int? {
      today.map { (Int($0.rawValue) - Int(day.rawValue)) / Int(IntervalNumber.perDay) }
    }
    oldestKeyDays = keys.map(\.key.key.rollingStart.startOfDay).min().flatMap(days)
    onsetDays = onset.isMissing ? nil : onset.day.flatMap(days)
  }
}

/// What kind of phone an upload came from, as far as it says so.
enum StatisticPlatform: Int, CaseIterable, Sendable {
  case unknown, android, ios

  /// By the header `User-Agent`: iOS uploads by itself too, and then names its daemon.
  init(userAgent: String?) {
    let agent = Array((userAgent?.lowercased() ?? "").utf8)
    if agent.contains("android".utf8) {
      self = .android
    } else if agent.contains("iphone".utf8)
      || (agent.contains("bluetoothd".utf8) && agent.contains("cfnetwork".utf8))
    {
      self = .ios
    } else {
      self = .unknown
    }
  }

  /// By the seed contract's `platform`.
  init(seedName: String) {
    self = ["android": .android, "ios": .ios][seedName] ?? .unknown
  }
}

extension [UInt8] {
  /// Whether `word` stands somewhere in it.
  fileprivate func contains(_ word: String.UTF8View) -> Bool {
    indices.contains { self[$0...].starts(with: word) }
  }
}
