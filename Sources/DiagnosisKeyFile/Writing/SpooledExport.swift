import Crypto
import ExposureKeys
import Foundation
import SwiftProtobuf

/// export.bin on its way into a zip: hashed as it is written, and its size known before the zip begins.
///
/// It lies in a file without a name beside the zip to be, so that nothing of it outlives the process.
final class SpooledExport {
  private(set) var byteCount = 0
  private let descriptor: Int32
  private var hash = SHA256()
  private var buffer: [UInt8] = []
  private var keyCount = 0

  /// Begins an export in `folder`.
  init(in folder: URL, header: KeyFileHeader) throws(KeyFileError) {
    var name = Array(folder.appendingPathComponent(".export-XXXXXX").path.utf8CString)
    descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw KeyFileError(writing: errno) }
    unlink(name)
    guard let wire: [UInt8] = try? header.wire.serializedBytes() else { throw .unusableName }
    buffer = ExportScanner.magic + wire
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Writes all `keys`; returns how many they were.
  func append(
    _ keys: some Sequence<DiagnosisKey>, isRevised: Bool
  ) throws(KeyFileError) -> Int {
    let before = keyCount
    for key in keys {
      guard let message = KeyMessage(key) else { throw .unusablePeriod }
      guard keyCount < KeyFileLimit.keyCountMax else { throw .tooManyKeys }
      keyCount += 1
      buffer.appendField(ExportScanner.fieldNumber(isRevised: isRevised), message.encoded)
      if buffer.count >= KeyFileLimit.chunkByteCount { try flush() }
    }
    return keyCount - before
  }

  /// Ends the export; returns what is to be signed.
  func finish() throws(KeyFileError) -> SHA256Digest {
    try flush()
    return hash.finalize()
  }

  /// Hands over what was written, in chunks.
  func readAll(
    _ receive: (UnsafeRawBufferPointer) throws(KeyFileError) -> Void
  ) throws(KeyFileError) {
    buffer = [UInt8](repeating: 0, count: KeyFileLimit.chunkByteCount)
    var offset = 0
    while offset < byteCount {
      let count = pread(descriptor, &buffer, buffer.count, off_t(offset))
      guard count > 0 else { throw .cannotRead(errno) }
      try buffer.withRawBytes { bytes throws(KeyFileError) in
        try receive(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      }
      offset += count
    }
  }

  private func flush() throws(KeyFileError) {
    hash.update(data: buffer)
    try buffer.withRawBytes { bytes throws(KeyFileError) in
      try WholeFile.append(bytes, to: descriptor)
    }
    byteCount += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }
}
