// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A downloaded key file, which can be inspected and verified.
///
/// Reading takes one pass, and memory that does not depend on the number of keys.
public struct UnverifiedKeyFile: Sendable {
  private enum Place {
    case file(URL)
    case memory([UInt8])
  }

  private let place: Place
  private let tolerance: KeyFileTolerance

  /// The file at `url`: a zip, or an export beside its signatures (`x.bin` and `x.sig`). It must follow the
  /// format exactly.
  public init(at url: URL) {
    self.init(at: url, accepting: .none)
  }

  /// The file at `url`. A tool that accepts deviations reads a zip into memory.
  package init(at url: URL, accepting tolerance: KeyFileTolerance) {
    (place, self.tolerance) = (.file(url), tolerance)
  }

  /// The file with this content, such as standard input; published deviations are accepted.
  package init(published content: [UInt8]) {
    (place, tolerance) = (.memory(content), .published)
  }

  /// True if the file ends like a complete zip of its length. False for an empty or truncated file, and
  /// for one with bytes added. Only the end is read; changes before it are not detected.
  public var hasValidZipEnd: Bool {
    guard case .file(let url) = place else { return false }
    do throws(KeyFileError) {
      _ = try ZipDirectory(of: ReadableFile(url))
      return true
    } catch {
      return false
    }
  }

  /// Counts the content without verifying anything.
  public func inspect() throws(KeyFileError) -> KeyFileSummary {
    try reading().facts.get()
  }

  /// Returns the signing keys as stated in the file, even if its export is malformed.
  public func signatures() throws(KeyFileError) -> [SignatureInfo] {
    try reading().signatures.infos
  }

  /// Passes all keys to `each`, at most `batchSize` at a time, and returns after a signature by one of
  /// `keys` was verified over the whole file.
  ///
  /// The batches are provisional: if this throws, discard all results from them. A `batchSize` outside
  /// `KeyFileLimit.batchSizes` is clamped.
  ///
  /// - Throws: A `KeyFileError`, or the error of `each`.
  public func verified(
    by keys: [VerificationPublicKey], batchSize: Int,
    each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> VerifiedKeyFile {
    try verified(batchSize: batchSize, by: { _ in keys }, each: each)
  }

  /// The same with keys that depend on the names in the signatures. `keys` gets them when all batches were passed on,
  /// so that a tool that accepts any names reads the file once.
  ///
  /// - Throws: A `KeyFileError`, or the error of `keys` or `each`.
  package func verified(
    batchSize: Int, by keys: ([SignatureInfo]) throws -> [VerificationPublicKey],
    each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> VerifiedKeyFile {
    let reading = try ExportPass.run(over: source(), batchSize: batchSize, each: each)
    let signer = try reading.signatures.signer(
      among: keys(reading.signatures.infos), of: reading.digest, accepting: tolerance)
    let facts = try reading.facts.get()
    try reading.signatures.check(against: facts.header)
    return VerifiedKeyFile(facts: facts, signer: signer)
  }

  /// Passes all keys to `each`, at most `batchSize` at a time, without looking at the signatures. For
  /// tools that compare files; phones use `verified`.
  ///
  /// - Throws: A `KeyFileError`, or the error of `each`.
  package func unverifiedKeys(
    batchSize: Int, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileSummary {
    try ExportPass.run(over: source(), batchSize: batchSize, each: each).facts.get()
  }

  /// Passes all keys to `each`, at most `batchSize` at a time, without hashing the file. For benchmarks
  /// of reading alone.
  ///
  /// - Returns: The number of keys and revised keys, including invalid ones.
  /// - Throws: A `KeyFileError`, or the error of `each`.
  package func scannedKeys(
    batchSize: Int, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> Int {
    try ExportPass.scan(source(), batchSize: batchSize, each: each)
  }

  private func source() throws(KeyFileError) -> any ExportSource {
    switch (place, tolerance) {
    case (.file(let url), .none): try ZipSource.source(at: url)
    case (.file(let url), .published): try PublishedZipSource.source(at: url)
    case (.memory(let content), _): try PublishedZipSource.source(of: content)
    }
  }

  private func reading() throws(KeyFileError) -> ExportReading {
    do {
      return try ExportPass.run(over: source(), batchSize: KeyFileLimit.batchSizes.lowerBound) {
        _ in
      }
    } catch let error as KeyFileError {
      throw error
    } catch {
      // Unreachable: the empty closure does not throw.
      throw .damagedZip
    }
  }
}

/// A key file with a verified signature. Only `UnverifiedKeyFile.verified` creates one.
public struct VerifiedKeyFile: Sendable {
  /// The counted content of the file.
  public let facts: KeyFileSummary
  /// The key whose signature was verified.
  public let signer: VerificationPublicKey

  /// The header of the export.
  public var header: KeyFileHeader { facts.header }
}
