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
    do {
      let header = try header(start: start, end: end, region: region, signers: signers)
      return try WholeFile.write(to: url) { file in
        let export = AppendedFile(file)
        let (facts, digest) = try ExportBody.writing(header, to: export.append) { body in
          for key in keys { try body.append(key) }
        }
        let signatures = try signatureFile(over: digest, header: header, signers: signers)
        try WholeFile.write(to: PairSource(export: url).signatures) { file in
          try signatures.withRawBytes(AppendedFile(file).append)
        }
        return facts
      }
    } catch let error as KeyFileError {
      throw error
    } catch {
      throw .cannotWrite(EIO)
    }
  }
}
