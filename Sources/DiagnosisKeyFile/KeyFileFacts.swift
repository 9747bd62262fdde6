/// What a key file holds, counted. That its signature holds is not said here.
public struct KeyFileFacts: Hashable, Sendable {
  /// What the file says about itself.
  public let header: KeyFileHeader
  /// Who signed, in the file's order; empty where nobody did.
  public let signatures: [SignatureInfo]
  /// The keys, whether or not they are usable.
  public let keyCount: Int
  /// The revised keys, whether or not they are usable.
  public let revisedKeyCount: Int
  /// How many of both were left out: not 16 bytes, a period outside 1...144, a start or a risk level
  /// that cannot be.
  public let keysSkipped: Int
  /// SHA-256 of the whole export.bin: what is signed.
  public let exportSHA256: [UInt8]
  /// The size of export.bin, in bytes.
  public let exportByteCount: Int
}
