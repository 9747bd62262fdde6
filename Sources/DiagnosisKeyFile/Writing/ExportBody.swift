import Crypto
import ExposureKeys
import SwiftProtobuf

/// export.bin on its way into a file: encoded and hashed as it is handed on, in memory that does not grow
/// with the number of keys.
public final class ExportBody {
  private let write: (UnsafeRawBufferPointer) throws(KeyFileError) -> Void
  private var encoder = KeyFieldEncoder(capacity: KeyFileLimit.chunkByteCount)
  private var hash = SHA256()
  private(set) var byteCount = 0
  private(set) var keyCount = 0
  private(set) var revisedKeyCount = 0

  /// Begins an export with everything that comes before the keys; `write` gets its bytes in order.
  init(
    _ header: KeyFileHeader,
    write: @escaping (UnsafeRawBufferPointer) throws(KeyFileError) -> Void
  ) throws(KeyFileError) {
    self.write = write
    guard let wire: [UInt8] = try? header.wire.serializedBytes() else { throw .unusableName }
    try (ExportScanner.magic + wire).withRawBytes { bytes throws(KeyFileError) in
      try take(bytes)
    }
  }

  /// Writes the next key. Keys come in `DiagnosisKey.inFileOrder`, the revised ones after the others.
  ///
  /// - Throws: A `KeyFileError`, such as `.tooManyKeys` or `.diskFull`; the file then is not made.
  public func append(_ key: DiagnosisKey, isRevised: Bool = false) throws(KeyFileError) {
    guard keyCount + revisedKeyCount < KeyFileLimit.keyCountMax else { throw .tooManyKeys }
    if encoder.isFull { try flush() }
    guard encoder.append(key, isRevised: isRevised) else { throw .unusablePeriod }
    if isRevised { revisedKeyCount += 1 } else { keyCount += 1 }
  }

  /// Ends the export; returns what is to be signed.
  func finish() throws(KeyFileError) -> SHA256Digest {
    try flush()
    return hash.finalize()
  }

  /// What was written, once it is finished.
  func facts(_ header: KeyFileHeader, _ digest: SHA256Digest) -> KeyFileFacts {
    KeyFileFacts(
      header: header, signatures: header.signatureInfos, keyCount: keyCount,
      revisedKeyCount: revisedKeyCount, keysSkipped: 0, exportSHA256: Array(digest),
      exportByteCount: byteCount)
  }

  private func flush() throws(KeyFileError) {
    try encoder.empty { bytes throws(KeyFileError) in try take(bytes) }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    hash.update(bufferPointer: bytes)
    try write(bytes)
    byteCount += bytes.count
  }
}
