import KeyServerAPI

/// Why a publish was refused. One case for each thing the phone can do about it.
///
/// Documentation/KeyServer.md 7.6.
enum PublishRefusal: Error, Hashable, Sendable {
  /// Stop: this app is not known here.
  case unknownApp
  /// Try again: the app cannot be looked up just now.
  case cannotLoadApp
  /// Tell the server's owner: nobody said where this app's keys count.
  case missingRegion
  /// Get a new certificate: none, not a good one, not for these keys or used up. One answer for every
  /// reason, as the difference would help only who forges one.
  case certificate
  /// Stop: the request breaks a rule, which the sentence names.
  case broken(String)
  /// Stop, or send the revision token.
  case revision(RevisionRefusal)
  /// Try again later: nothing was kept.
  case unavailable

  /// What it says for a program.
  var code: PublishCode {
    switch self {
    case .unknownApp: .unknownHealthAuthorityID
    case .cannotLoadApp: .unableToLoadHealthAuthority
    case .missingRegion: .missingRegionConfiguration
    case .certificate: .certificateInvalid
    case .broken: .badRequest
    case .revision(let refusal): refusal.code
    case .unavailable: .internalError
    }
  }

  /// The HTTP status it travels with.
  var status: Int {
    switch self {
    case .unknownApp, .certificate: 401
    case .cannotLoadApp, .missingRegion: 500
    case .broken, .revision: 400
    case .unavailable: 503
    }
  }

  /// One sentence, with nothing of the request or the server inside.
  var sentence: String {
    switch self {
    case .unknownApp: "This app may not publish here."
    case .cannotLoadApp: "The app cannot be looked up; try again later."
    case .missingRegion: "No region is set for this app."
    case .certificate: "The verification certificate is not valid for these keys."
    case .broken(let sentence): sentence
    case .revision(let refusal): refusal.sentence
    case .unavailable: "The keys were not kept; try again later."
    }
  }

  /// Whether the same request may go through later.
  var isTemporary: Bool { self == .unavailable || self == .cannotLoadApp }
}
