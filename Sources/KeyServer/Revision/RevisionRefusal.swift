import KeyServerAPI

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
