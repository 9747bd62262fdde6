import ExposureKeys
import Foundation
import KeyServerAPI
import Secrets

/// Decides what an upload does with one of its keys, which may be stored already.
enum RevisionRule {
  enum Outcome: Hashable {
    /// The key is new.
    case insert
    /// The stored key gets the report type of the upload.
    case revise
    /// The stored key stays as it is.
    case leave
    /// The key is ignored, and not covered by the next revision token.
    case drop
    /// The whole upload is rejected.
    case refuse(RevisionRefusal)
  }

  /// The outcome of `sent`; `known` is the stored key with the same bytes.
  static func outcome(
    of sent: DiagnosisKey, known: KnownKey?, under policy: RevisionPolicy
  ) -> Outcome {
    guard let known else {
      // A key that was never published cannot be revoked.
      return sent.reportType == .revoked ? .drop : .insert
    }
    guard case .token(_, let allowsPartial) = policy else { return .leave }
    if let refusal = policy.refusal(of: RevisableKey(sent.key)) {
      return allowsPartial ? .drop : .refuse(refusal)
    }
    let type = sent.reportType
    if type == known.reportType || type == known.revisedReportType { return .leave }
    if type == stated(known.reportType) { return .leave }
    guard known.revisedReportType == nil else { return .refuse(.alreadyRevised) }
    return canBecome(type, from: known.reportType) ? .revise : .refuse(.invalidTransition)
  }

  /// True if a report type may change to `new`: it may become more certain or be revoked, never less certain.
  /// A missing one counts as a clinical diagnosis.
  static func canBecome(_ new: ReportType?, from old: ReportType?) -> Bool {
    switch stated(old) {
    case .confirmedClinicalDiagnosis: new == .confirmedTest || new == .revoked
    case .selfReport:
      new == .confirmedTest || new == .confirmedClinicalDiagnosis || new == .revoked
    default: false
    }
  }

  private static func stated(_ type: ReportType?) -> ReportType {
    guard let type, type != .unknown else { return .confirmedClinicalDiagnosis }
    return type
  }
}

/// The permission of an upload to revise stored keys.
enum RevisionPolicy: Sendable {
  /// Stored keys stay as they are, without an error: the rule of the ProteGO Safe contract.
  case leaveKnown
  /// The keys that the revision token covers may be revised. Others reject the upload, or are dropped if
  /// `allowsPartial`.
  case token(Sent, allowsPartial: Bool)

  /// The revision token of an upload.
  enum Sent: Sendable {
    case absent
    case invalid
    case valid(RevisionToken)
  }

  /// The reason why the stored `key` may not be revised; nil if it may.
  func refusal(of key: RevisableKey) -> RevisionRefusal? {
    switch self {
    case .leaveKnown, .token(.invalid, _): .invalidToken
    case .token(.absent, _): .missingToken
    case .token(.valid(let token), _): token.covers(key) ? nil : .invalidToken
    }
  }
}

/// The reason why a stored key may not be revised.
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

  var message: String {
    switch self {
    case .missingToken: "A key was uploaded before: send the revision token of the last response."
    case .invalidToken: "A key was uploaded before and is not covered by the revision token."
    case .alreadyRevised: "A key was revised before: a key can be revised only once."
    case .invalidTransition: "A key that was uploaded before cannot change to this report type."
    }
  }
}

/// The properties of a stored key that a revision depends on.
struct KnownKey: Redacted, Hashable, Sendable {
  let bytes: Data
  let reportType: ReportType?
  /// Nil if it was never revised.
  let revisedReportType: ReportType?
}
