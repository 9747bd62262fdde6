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
