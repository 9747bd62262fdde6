// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import SwiftProtobuf
import World

/// Writes signed key files, with memory that does not depend on the number of keys.
///
/// A file appears complete or not at all. Documentation/KeyFiles.md, "Writing", describes the output.
public enum KeyFileWriter {
  /// The compression level of deflate, 1 to 9.
  public static let deflateLevel = 6

  /// Writes a signed zip to `url`, replacing an existing file.
  ///
  /// - Parameters:
  ///   - url: The file to write.
  ///   - start: The start of the period, in Unix seconds.
  ///   - end: The end of the period, exclusive, in Unix seconds.
  ///   - region: The region, such as `PL`; 1 to 64 bytes.
  ///   - keys: The keys, in `DiagnosisKey.inFileOrder`; they are written in the given order.
  ///   - revisedKeys: Keys that replace keys published before.
  ///   - signers: 1 to 10, the newest first.
  ///   - create: Called with a function that creates the temporary file beside `url`, for a caller whose signal
  ///     handler removes that file: it calls the function under a lock.
  /// - Returns: The counted content of the file.
  /// - Throws: A `KeyFileError`; then no new file is left and an existing one at `url` is unchanged.
  @discardableResult
  public static func write(
    to url: URL, start: UInt64, end: UInt64, region: String,
    keys: some Sequence<DiagnosisKey>, revisedKeys: some Sequence<DiagnosisKey> = [],
    signers: [KeyFileSigner], create: (_ create: () -> URL?) -> Void = { _ = $0() }
  ) throws(KeyFileError) -> KeyFileSummary {
    do {
      return try write(
        to: url, start: start, end: end, region: region, signers: signers, create: create
      ) { body in
        for key in keys { try body.append(key) }
        for key in revisedKeys { try body.append(key, isRevised: true) }
      }
    } catch let error as KeyFileError {
      throw error
    } catch {
      throw .cannotWrite(EIO)
    }
  }

  /// Writes a signed zip to `url` with the keys that `fill` appends, in one pass.
  ///
  /// - Throws: A `KeyFileError`, or the error of `fill`; then no new file is left and an existing one at
  ///   `url` is unchanged.
  @discardableResult
  public static func write(
    to url: URL, start: UInt64, end: UInt64, region: String, signers: [KeyFileSigner],
    _ fill: (inout ExportBody) throws -> Void
  ) throws -> KeyFileSummary {
    try write(
      to: url, start: start, end: end, region: region, signers: signers, create: { _ = $0() }, fill)
  }

  private static func write(
    to url: URL, start: UInt64, end: UInt64, region: String, signers: [KeyFileSigner],
    create: (_ create: () -> URL?) -> Void, _ fill: (inout ExportBody) throws -> Void
  ) throws -> KeyFileSummary {
    let header = try header(start: start, end: end, region: region, signers: signers)
    return try writeFile(to: url, create: create) { descriptor in
      var zip = ZipWriter(descriptor)
      let (facts, digest) = try zip.add(.export) { entry in
        try ExportBody.writing(header, to: entry.append, fill)
      }
      let signatures = try signatureFile(over: digest, header: header, signers: signers)
      try zip.add(.signatures) { entry in try signatures.withRawBytes(entry.append) }
      try zip.finish()
      return facts
    }
  }

  /// A key file is public, and a web server that runs as another user has to read it: mode 0644.
  static func writeFile<Result>(
    to url: URL, create: (_ create: () -> URL?) -> Void = { _ = $0() },
    _ fill: (_ descriptor: Int32) throws -> Result
  ) throws -> Result {
    try AtomicFile.write(
      to: url, permissions: 0o644, create: create,
      mapError: { KeyFileError(writing: $0.code) as any Error }, fill: fill)
  }

  static func header(
    start: UInt64, end: UInt64, region: String, signers: [KeyFileSigner]
  ) throws(KeyFileError) -> KeyFileHeader {
    guard 1...KeyFileLimit.regionByteCountMax ~= region.utf8.count else { throw .unusableName }
    guard start <= end else { throw .unusablePeriod }
    guard 1...KeyFileLimit.signatureCountMax ~= signers.count else { throw .wrongSignerCount }
    return KeyFileHeader(
      start: start, end: end, region: region, batchNumber: 1, batchSize: 1,
      signatureInfos: signers.map(\.info))
  }

  static func signatureFile(
    over digest: SHA256Digest, header: KeyFileHeader, signers: [KeyFileSigner]
  ) throws(KeyFileError) -> [UInt8] {
    do {
      let list = try WireTEKSignatureList.with {
        $0.signatures = try signers.map { signer in
          try .with {
            $0.signatureInfo = signer.info.wire
            $0.batchNum = header.batchNumber
            $0.batchSize = header.batchSize
            $0.signature = try signer.signature(for: digest)
          }
        }
      }
      return try list.serializedBytes()
    } catch let error as KeyFileError {
      throw error
    } catch {
      throw .cannotSign("the signatures cannot be encoded")
    }
  }
}

extension KeyFileWriter {
  /// Writes a signed export without a zip: the export to `url`, its signatures beside it as `.sig`.
  ///
  /// For tools that compare matchers; phones download zips. Parameters and errors are those of
  /// `write(to:start:end:region:keys:revisedKeys:signers:)`. Each of the two files appears complete or
  /// not at all, the signatures first.
  @discardableResult
  package static func writePair(
    to url: URL, start: UInt64, end: UInt64, region: String,
    keys: some Sequence<DiagnosisKey>, signers: [KeyFileSigner]
  ) throws(KeyFileError) -> KeyFileSummary {
    do {
      let header = try header(start: start, end: end, region: region, signers: signers)
      return try writeFile(to: url) { descriptor in
        let export = AppendedFile(descriptor)
        let (facts, digest) = try ExportBody.writing(header, to: export.append) { body in
          for key in keys { try body.append(key) }
        }
        let signatures = try signatureFile(over: digest, header: header, signers: signers)
        try writeFile(to: PairSource(export: url).signatures) { descriptor in
          try signatures.withRawBytes(AppendedFile(descriptor).append)
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
