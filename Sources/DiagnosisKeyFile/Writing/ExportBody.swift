import Crypto
import ExposureKeys
import SwiftProtobuf

/// export.bin on its way into a file: encoded and hashed as it is handed on, in memory that does not grow
/// with the number of keys.
///
/// It lives as long as the call that lends it.
public struct ExportBody: ~Copyable {
  private let header: KeyFileHeader
  private var outlet: HashedOutput
  private var encoder = KeyFieldEncoder(capacity: KeyFileLimit.chunkByteCount)
  private var keyCount = 0
  private var revisedKeyCount = 0
  /// What went wrong first, so that nobody who passes over it gets a file without the key.
  private var failure: KeyFileError?

  /// Begins an export with everything that comes before the keys.
  private init(_ header: KeyFileHeader, to outlet: consuming HashedOutput) throws(KeyFileError) {
    guard let wire: [UInt8] = try? header.wire.serializedBytes() else { throw .unusableName }
    try (ExportFormat.magic + wire).withRawBytes { bytes throws(KeyFileError) in
      try outlet.put(bytes)
    }
    self.header = header
    self.outlet = outlet
  }

  /// Hands an export to `receive`, its bytes in order, with the keys that `fill` appends.
  ///
  /// - Returns: What was written, and what is to be signed.
  static func writing(
    _ header: KeyFileHeader, to receive: @escaping HashedOutput.Receive,
    _ fill: (inout ExportBody) throws -> Void
  ) throws -> (facts: KeyFileFacts, digest: SHA256Digest) {
    var body = try ExportBody(header, to: HashedOutput(receive))
    try fill(&body)
    return try body.finish()
  }

  /// Writes the next key. Keys come in `DiagnosisKey.inFileOrder`, the revised ones after the others.
  ///
  /// - Throws: A `KeyFileError`, such as `.tooManyKeys` or `.diskFull`; the file then is not made.
  public mutating func append(
    _ key: DiagnosisKey, isRevised: Bool = false
  ) throws(KeyFileError) {
    if let failure { throw failure }
    do throws(KeyFileError) {
      try encode(key, isRevised: isRevised)
    } catch {
      failure = error
      throw error
    }
  }

  private mutating func encode(_ key: DiagnosisKey, isRevised: Bool) throws(KeyFileError) {
    guard keyCount + revisedKeyCount < KeyFileLimit.keyCountMax else { throw .tooManyKeys }
    if encoder.isFull { try Self.empty(&encoder, into: &outlet) }
    guard encoder.append(key, isRevised: isRevised) else { throw .unusablePeriod }
    if isRevised { revisedKeyCount += 1 } else { keyCount += 1 }
  }

  private mutating func finish() throws(KeyFileError) -> (
    facts: KeyFileFacts, digest: SHA256Digest
  ) {
    if let failure { throw failure }
    try Self.empty(&encoder, into: &outlet)
    let digest = outlet.digest
    let facts = KeyFileFacts(
      header: header, signatures: header.signatureInfos, keyCount: keyCount,
      revisedKeyCount: revisedKeyCount, keysSkipped: 0, exportSHA256: Array(digest),
      exportByteCount: outlet.byteCount)
    return (facts, digest)
  }

  private static func empty(
    _ encoder: inout KeyFieldEncoder, into outlet: inout HashedOutput
  ) throws(KeyFileError) {
    try encoder.empty { bytes throws(KeyFileError) in try outlet.put(bytes) }
  }
}

/// Where an export's bytes go, hashed on their way.
struct HashedOutput {
  /// Takes the next bytes.
  typealias Receive = (UnsafeRawBufferPointer) throws(KeyFileError) -> Void

  private let receive: Receive
  private var hash = SHA256()
  /// How many bytes have gone.
  private(set) var byteCount = 0

  /// An outlet to `receive`.
  init(_ receive: @escaping Receive) {
    self.receive = receive
  }

  /// SHA-256 of everything up to now.
  var digest: SHA256Digest { hash.finalize() }

  /// Hands on the next bytes.
  mutating func put(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    hash.update(bufferPointer: bytes)
    byteCount += bytes.count
    try receive(bytes)
  }
}
