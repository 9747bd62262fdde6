/// The four sealed bytes that travel beside a Rolling Proximity Identifier.
///
/// Cryptography Specification 1.2.1, "Associated Encrypted Metadata". Only the holder of the
/// Temporary Exposure Key can open them, with `KeySchedule.open(_:beside:)`.
public struct AssociatedEncryptedMetadata: Hashable, Sendable {
  /// The size of the metadata, in bytes.
  public static let byteCount = 4

  /// The four bytes as they go over the air.
  public let bytes: [UInt8]

  /// Nil unless there are exactly four bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  init(four: [UInt8]) {
    bytes = four
  }
}

extension AssociatedEncryptedMetadata: CustomStringConvertible, CustomReflectable {
  public var description: String { "AssociatedEncryptedMetadata" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
