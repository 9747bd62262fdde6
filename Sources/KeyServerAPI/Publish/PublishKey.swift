/// One Temporary Exposure Key as `/v1/publish` carries it, not yet looked at.
///
/// Documentation/KeyServer.md 7.1.
public struct PublishKey: Codable, Hashable, Sendable {
  /// Base64 of the 16 bytes, in either alphabet; the HMAC is over the text as it was sent.
  public var key: String
  /// The first ten-minute interval the key serves.
  public var rollingStartNumber: Int32
  /// How many intervals the key serves.
  public var rollingPeriod: Int32
  /// The risk level, 0...8; absent is another text in the HMAC than 0.
  public var transmissionRisk: Int?

  /// A key in the words of the wire.
  public init(
    key: String, rollingStartNumber: Int32, rollingPeriod: Int32 = 144, transmissionRisk: Int? = nil
  ) {
    self.key = key
    self.rollingStartNumber = rollingStartNumber
    self.rollingPeriod = rollingPeriod
    self.transmissionRisk = transmissionRisk
  }
}

extension PublishKey: CustomStringConvertible, CustomReflectable {
  /// The key's kind and day only: its bytes tell where a person was.
  public var description: String { "PublishKey(from \(rollingStartNumber))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
