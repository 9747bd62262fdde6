/// What became of each code of a batch, in the order they were asked for.
public struct BatchIssueAnswer: Codable, Sendable {
  /// One code, or why there is none.
  public enum Item: Codable, Sendable {
    /// The code.
    case issued(IssueAnswer)
    /// Why there is none.
    case refused(VerificationFailure)

    /// Reads whichever it is.
    public init(from decoder: any Decoder) throws {
      if let failure = try? VerificationFailure(from: decoder) {
        self = .refused(failure)
      } else {
        self = .issued(try IssueAnswer(from: decoder))
      }
    }

    public func encode(to encoder: any Encoder) throws {
      switch self {
      case .issued(let answer): try answer.encode(to: encoder)
      case .refused(let failure): try failure.encode(to: encoder)
      }
    }
  }

  /// What became of each.
  public var codes: [Item]
  /// The first refusal among them.
  public var error: String?
  /// The same for a program.
  public var errorCode: VerificationErrorCode?

  /// Answers with `codes`.
  public init(codes: [Item]) {
    self.codes = codes
    for case .refused(let failure) in codes {
      (error, errorCode) = (failure.error, failure.errorCode)
      return
    }
  }
}
