/// What a phone calls itself for ten to twenty minutes on the air.
///
/// Cryptography Specification 1.2.1, "Rolling Proximity Identifier": 16 bytes that look random to
/// everybody who does not hold the Temporary Exposure Key.
public struct RollingProximityIdentifier: Hashable, Sendable {
  /// The size of an identifier, in bytes.
  public static let byteCount = SixteenBytes.count

  private let value: SixteenBytes

  /// Nil unless there are exactly 16 bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard let value = SixteenBytes(bytes) else { return nil }
    self.value = value
  }

  init(sixteen: SixteenBytes) {
    value = sixteen
  }

  /// The 16 bytes as they go over the air.
  public var bytes: [UInt8] { value.array }

  /// The 16 bytes in two words, as memory holds them: what the matcher's loops work on.
  package var words: (UInt64, UInt64) { value.words }
}

extension RollingProximityIdentifier: CustomStringConvertible, CustomReflectable {
  /// The kind only: an identifier heard names a meeting.
  public var description: String { "RollingProximityIdentifier" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
