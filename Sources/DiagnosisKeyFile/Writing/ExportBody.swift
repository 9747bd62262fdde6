import Crypto
import ExposureKeys
import SwiftProtobuf

/// export.bin on its way into a file: encoded as it is handed on, hashed and written by another thread, in
/// memory that does not grow with the number of keys.
public final class ExportBody {
  private var encoder = KeyFieldEncoder(capacity: KeyFileLimit.chunkByteCount)
  private let digest = RunningDigest()
  private let relay: ChunkRelay
  private(set) var keyCount = 0
  private(set) var revisedKeyCount = 0

  /// Begins an export with everything that comes before the keys; `write` gets its bytes in order, on
  /// another thread.
  init(
    _ header: KeyFileHeader, write: @escaping ChunkRelay.Work
  ) throws(KeyFileError) {
    guard let wire: [UInt8] = try? header.wire.serializedBytes() else { throw .unusableName }
    relay = ChunkRelay { [digest] bytes throws(KeyFileError) in
      digest.update(bytes)
      try write(bytes)
    }
    try (ExportScanner.magic + wire).withRawBytes(relay.send)
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
    try relay.finish()
    return digest.value
  }

  /// Returns when nothing more is written: to be called wherever an export may not have been finished.
  func settle() {
    relay.settle()
  }

  /// What was written, once it is finished.
  func facts(_ header: KeyFileHeader, _ digest: SHA256Digest) -> KeyFileFacts {
    KeyFileFacts(
      header: header, signatures: header.signatureInfos, keyCount: keyCount,
      revisedKeyCount: revisedKeyCount, keysSkipped: 0, exportSHA256: Array(digest),
      exportByteCount: self.digest.byteCount)
  }

  private func flush() throws(KeyFileError) {
    try encoder.empty(relay.send)
  }
}
