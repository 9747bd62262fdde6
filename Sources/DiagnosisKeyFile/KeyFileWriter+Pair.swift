import ExposureKeys
import Foundation

extension KeyFileWriter {
  /// Writes a signed export unzipped: the export to `url`, its signatures beside it as `.sig`.
  ///
  /// For tools that compare matchers; phones download zips. Parameters and errors are those of
  /// `write(to:start:end:region:keys:revisedKeys:signers:)`. Each of the two files appears whole or not
  /// at all, the signatures first.
  @discardableResult
  package static func writePair(
    to url: URL, start: UInt64, end: UInt64, region: String,
    keys: some Sequence<DiagnosisKey>, signers: [KeyFileSigner]
  ) throws(KeyFileError) -> KeyFileFacts {
    let header = try header(start: start, end: end, region: region, signers: signers)
    let export = try SpooledExport(in: url.deletingLastPathComponent(), header: header)
    let keyCount = try export.append(keys, isRevised: false)
    let digest = try export.finish()
    let signatures = try signatureFile(over: digest, header: header, signers: signers)
    try WholeFile.write(to: PairSource(export: url).signatures) { file throws(KeyFileError) in
      try signatures.withRawBytes { bytes throws(KeyFileError) in
        try WholeFile.append(bytes, to: file)
      }
    }
    try WholeFile.write(to: url) { file throws(KeyFileError) in
      try export.readAll { chunk throws(KeyFileError) in try WholeFile.append(chunk, to: file) }
    }
    return KeyFileFacts(
      header: header, signatures: header.signatureInfos, keyCount: keyCount, revisedKeyCount: 0,
      keysSkipped: 0, exportSHA256: Array(digest), exportByteCount: export.byteCount)
  }
}
