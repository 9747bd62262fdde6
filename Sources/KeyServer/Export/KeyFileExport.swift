import DiagnosisKeyFile
import Foundation

/// Writes the key file of one batch.
struct KeyFileExport: Sendable {
  let batch: Batch
  let signers: [KeyFileSigner]

  /// Writes `keys` to `file`, all of them or no file.
  func write(_ keys: StoredKeys, to file: URL) throws {
    try WholeFile.fill(file) { unfinished in
      try KeyFileWriter.write(
        to: unfinished, start: UInt64(batch.start.timeIntervalSince1970),
        end: UInt64(batch.end.timeIntervalSince1970), region: batch.region, keys: keys,
        signers: signers)
      // The writer takes an early end for the end; only now is it known that there was none.
      if let failure = keys.failure { throw failure }
    }
  }
}
