import Crypto
import ExposureKeys
import SwiftProtobuf

/// The body of an export.bin that is being written: keys are encoded, hashed and passed on at once, so
/// memory does not grow with their number.
///
/// It is valid only during the call of the closure that gets it.
public struct ExportBody: ~Copyable {
  private let header: KeyFileHeader
  private var outlet: HashedOutput
  private var encoder = KeyFieldEncoder(capacity: KeyFileLimit.chunkByteCount)
  private var keyCount = 0
  private var revisedKeyCount = 0
  /// The first failure. It makes the export fail even if the caller of `append` ignores the error.
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

  /// Passes an export with the keys that `fill` appends to `receive`.
  ///
  /// - Returns: The counted content, and the digest to sign.
  static func writing(
    _ header: KeyFileHeader, to receive: @escaping HashedOutput.Receive,
    _ fill: (inout ExportBody) throws -> Void
  ) throws -> (facts: KeyFileSummary, digest: SHA256Digest) {
    var body = try ExportBody(header, to: HashedOutput(receive))
    try fill(&body)
    return try body.finish()
  }

  /// Appends the next key. Keys come in `DiagnosisKey.inFileOrder`, the revised ones after the others.
  ///
  /// - Throws: A `KeyFileError`, such as `.tooManyKeys` or `.diskFull`; then no file is written.
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
    facts: KeyFileSummary, digest: SHA256Digest
  ) {
    if let failure { throw failure }
    try Self.empty(&encoder, into: &outlet)
    let digest = outlet.digest
    let facts = KeyFileSummary(
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

/// Passes bytes on and hashes them.
struct HashedOutput {
  typealias Receive = (UnsafeRawBufferPointer) throws(KeyFileError) -> Void

  private let receive: Receive
  private var hash = SHA256()
  private(set) var byteCount = 0

  init(_ receive: @escaping Receive) {
    self.receive = receive
  }

  var digest: SHA256Digest { hash.finalize() }

  mutating func put(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    hash.update(bufferPointer: bytes)
    byteCount += bytes.count
    try receive(bytes)
  }
}
