// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation

/// A key file whose keys are written and whose signatures are missing: a zip without its end, which no phone accepts.
///
/// A caller that reads the keys in a transaction ends it before a key on a token signs, because a token may not
/// respond. The caller removes the file if it gets no signatures.
package struct UnsignedKeyFile: Sendable {
  private let url: URL
  private let header: KeyFileHeader
  private let digest: SHA256Digest
  private let zip: ZipWriter.Progress

  /// Writes the keys that `fill` appends to `url`, replacing an existing file.
  ///
  /// - Throws: A `KeyFileError`, or the error of `fill`; then an existing file at `url` is unchanged.
  package init(
    at url: URL, start: UInt64, end: UInt64, region: String, signers: [KeyFileSigner],
    _ fill: (inout ExportBody) throws -> Void
  ) throws {
    let header = try KeyFileWriter.header(
      start: start, end: end, region: region, signers: signers)
    (digest, zip) = try KeyFileWriter.writeFile(to: url) { descriptor in
      var zip = ZipWriter(descriptor)
      let (_, digest) = try zip.add(.export) { entry in
        try ExportBody.writing(header, to: entry.append, fill)
      }
      return (digest, zip.progress)
    }
    (self.url, self.header) = (url, header)
  }

  /// Signs the keys. A key on a token blocks the thread.
  ///
  /// - Parameter signers: The signers that `init` was given.
  /// - Returns: The bytes for `append(_:)`.
  /// - Throws: `KeyFileError.cannotSign`
  package func signatures(by signers: [KeyFileSigner]) throws(KeyFileError) -> [UInt8] {
    try KeyFileWriter.signatureFile(over: digest, header: header, signers: signers)
  }

  /// Completes the file with its signatures. It is not synced.
  ///
  /// - Throws: `KeyFileError.cannotWrite` or another error of writing.
  package func append(_ signatures: [UInt8]) throws {
    let descriptor = open(url.path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 else { throw KeyFileError(writing: errno) }
    defer { close(descriptor) }
    var zip = ZipWriter(descriptor, continuing: zip)
    try zip.add(.signatures) { entry in try signatures.withRawBytes(entry.append) }
    try zip.finish()
  }
}
