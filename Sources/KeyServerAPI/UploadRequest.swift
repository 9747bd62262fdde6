/// `POST /uploadDiagnosisKeys`: the keys of a diagnosed person, with the grant to publish them.
///
/// Documentation/SeedContract.md 4.1. Both forms of the seed contract fit: the callable one leaves
/// out `isInteroperabilityEnabled`.
public struct UploadRequest: Codable, Hashable, Sendable {
  /// What is uploaded.
  public var data: UploadPayload
  /// Whether the person agreed that the keys go to other countries too; absent means no.
  public var isInteroperabilityEnabled: Bool?
  /// Base64 of random bytes, thrown away: a decoy is as long as a real upload.
  public var padding: String?

  /// An upload in the words of the wire.
  public init(data: UploadPayload, isInteroperabilityEnabled: Bool? = nil, padding: String? = nil) {
    self.data = data
    self.isInteroperabilityEnabled = isInteroperabilityEnabled
    self.padding = padding
  }
}

extension UploadRequest: CustomStringConvertible, CustomReflectable {
  /// The kind only: it holds keys and a token.
  public var description: String { "UploadRequest" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
