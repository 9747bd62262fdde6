import ExposureKeys
import Foundation
import KeyServerAPI

/// What becomes of one key of an upload. Documentation/KeyServer.md 9.3 has the rules in sentences.
enum RevisionRule {
  enum Outcome: Hashable {
    /// It is new.
    case insert
    /// It is in already and becomes what the upload says.
    case revise
    /// It is in already and stays as it is.
    case leave
    /// It is taken no notice of.
    case drop
    case refuse(RevisionRefusal)
  }

  /// What becomes of `sent`, given what is `known` of its bytes.
  static func outcome(
    of sent: PublishableKey, known: KnownKey?, under policy: RevisionPolicy
  ) -> Outcome {
    guard let known else {
      // Nothing can be withdrawn that was never there.
      return sent.key.reportType == .revoked ? .drop : .insert
    }
    guard case .token(_, let allowsPartial) = policy else { return .leave }
    if let refusal = policy.refusal(of: sent.revisable) {
      return allowsPartial ? .drop : .refuse(refusal)
    }
    let type = sent.key.reportType
    if type == known.reportType || type == known.revisedReportType { return .leave }
    if type == stated(known.reportType) { return .leave }
    guard known.revisedReportType == nil else { return .refuse(.alreadyRevised) }
    return canBecome(type, from: known.reportType) ? .revise : .refuse(.invalidTransition)
  }

  /// A finding may become surer or be withdrawn, never less sure. One that was never stated counts as a
  /// doctor's.
  static func canBecome(_ new: ReportType?, from old: ReportType?) -> Bool {
    switch stated(old) {
    case .confirmedClinicalDiagnosis: new == .confirmedTest || new == .revoked
    case .selfReport:
      new == .confirmedTest || new == .confirmedClinicalDiagnosis || new == .revoked
    default: false
    }
  }

  /// `finding`, or what one counts as that was never stated.
  private static func stated(_ finding: ReportType?) -> ReportType {
    guard let finding, finding != .unknown else { return .confirmedClinicalDiagnosis }
    return finding
  }
}

/// What an upload may do to keys that are in already.
enum RevisionPolicy: Sendable {
  /// Nothing: they stay as they are, and nobody is told. So it is in the seed contract.
  case leaveKnown
  /// What the token that came with it allows.
  case token(Sent, allowsPartial: Bool)

  /// The token that came with an upload.
  enum Sent: Sendable {
    case absent
    case unreadable
    case read(RevisionToken)
  }

  /// Why the token does not speak of `key`; nil where it does.
  func refusal(of key: RevisableKey) -> RevisionRefusal? {
    switch self {
    case .leaveKnown, .token(.unreadable, _): .invalidToken
    case .token(.absent, _): .missingToken
    case .token(.read(let token), _): token.covers(key) ? nil : .invalidToken
    }
  }
}

/// Why keys that are in already may not become what an upload says. Documentation/KeyServer.md 9.3.
enum RevisionRefusal: Error, Hashable, Sendable {
  case missingToken
  case invalidToken
  case alreadyRevised
  case invalidTransition

  var code: PublishCode {
    switch self {
    case .missingToken: .missingRevisionToken
    case .invalidToken: .invalidRevisionToken
    case .alreadyRevised: .keyAlreadyRevised
    case .invalidTransition: .invalidReportTypeTransition
    }
  }

  /// The rule in one sentence.
  var sentence: String {
    switch self {
    case .missingToken: "A key is in already: send the revision token of the last answer."
    case .invalidToken: "A key is in already, and the revision token does not speak of it."
    case .alreadyRevised: "A key has been revised before; it can be once."
    case .invalidTransition: "A key that is in already cannot become of this report type."
    }
  }
}

/// A key that is in already, as far as a revision needs to know.
struct KnownKey: Hashable, Sendable {
  let bytes: Data
  let reportType: ReportType?
  /// What it has become; nil where it was never revised.
  let revisedReportType: ReportType?
}

extension KnownKey: CustomStringConvertible, CustomReflectable {
  var description: String { "KnownKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
