/// The answer of `/v1/publish`. The server adds `padding` beside it.
///
/// Documentation/KeyServer.md 7.5.
public struct PublishAnswer: Codable, Hashable, Sendable {
  /// To be sent with the next upload of the same phone.
  public var revisionToken: String?
  /// How many keys are in, new or revised.
  public var insertedExposures: Int?
  /// What went wrong, in one sentence.
  public var error: String?
  /// What went wrong, for a program.
  public var code: PublishCode?
  /// What the phone may tell its maker.
  public var warnings: [String]?

  /// An answer in the words of the wire.
  public init(
    revisionToken: String? = nil, insertedExposures: Int? = nil, error: String? = nil,
    code: PublishCode? = nil, warnings: [String]? = nil
  ) {
    self.revisionToken = revisionToken
    self.insertedExposures = insertedExposures
    self.error = error
    self.code = code
    self.warnings = warnings
  }
}

extension PublishAnswer: CustomStringConvertible, CustomReflectable {
  /// The code only: whoever has the revision token can revise.
  public var description: String { "PublishAnswer(\(code?.rawValue ?? "ok"))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
