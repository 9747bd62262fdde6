// SPDX-License-Identifier: Apache-2.0
/// The counted content of a key file. It does not say that a signature is valid.
public struct KeyFileSummary: Hashable, Sendable {
  /// The header of the export.
  public let header: KeyFileHeader
  /// The signing keys, in the file's order; empty if the file is not signed.
  public let signatures: [SignatureInfo]
  /// The number of keys, including invalid ones.
  public let keyCount: Int
  /// The number of revised keys, including invalid ones.
  public let revisedKeyCount: Int
  /// The number of invalid keys of both kinds, which are skipped: not 16 bytes, a period outside 1...144,
  /// or an impossible start or risk level.
  public let keysSkipped: Int
  /// SHA-256 of the whole export.bin, which is what the signature covers.
  public let exportSHA256: [UInt8]
  /// The size of export.bin, in bytes.
  public let exportByteCount: Int
  /// The deviations from the format that the reader accepted; phones accept none.
  package let deviations: [KeyFileDeviation]
}
