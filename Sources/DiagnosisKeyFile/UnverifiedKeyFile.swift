import Foundation

/// A key file as it came off the wire. It can be looked at, and it can be verified.
///
/// Documentation/KeyFiles.md 5. Reading takes one pass and the same memory for any number of keys.
public struct UnverifiedKeyFile: Sendable {
  private let url: URL

  /// The file at `url`: a zip, or an export with its signatures beside it (`x.bin` and `x.sig`).
  public init(at url: URL) {
    self.url = url
  }

  /// Whether it has the end of a whole zip of its length, as one that was emptied, cut off or added to
  /// has not. Only the end is read, so that what was changed before it is not seen.
  public var hasValidZipEnd: Bool {
    do throws(KeyFileError) {
      _ = try ZipDirectory(of: ReadableFile(url))
      return true
    } catch {
      return false
    }
  }

  /// Counts what the file holds, believing none of it.
  public func inspect() throws(KeyFileError) -> KeyFileFacts {
    try reading().facts.get()
  }

  /// Who signed, as the file says, even where its export cannot be read to the end.
  public func signatures() throws(KeyFileError) -> [SignatureInfo] {
    try reading().signatures.infos
  }

  /// Hands all keys to `each`, `batchSize` at a time, and returns once a signature by one of `keys`
  /// holds over the whole file.
  ///
  /// Throws a `KeyFileError`, or whatever `each` throws. The batches are provisional: where this
  /// throws, forget what came of them. A `batchSize` outside `KeyFileLimit.batchSizes` is brought inside.
  public func verified(
    by keys: [VerificationPublicKey], batchSize: Int,
    each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> VerifiedKeyFile {
    let reading = try ExportPass.run(over: source(), batchSize: batchSize, each: each)
    let signer = try reading.signatures.signer(among: keys, of: reading.digest)
    let facts = try reading.facts.get()
    try reading.signatures.check(against: facts.header)
    return VerifiedKeyFile(facts: facts, signer: signer)
  }

  /// Hands all keys to `each`, `batchSize` at a time, believing none of them: whoever signed, and
  /// whether anybody did, is not looked at. For tools that compare files; a phone takes `verified`.
  ///
  /// Throws a `KeyFileError`, or whatever `each` throws.
  package func unverifiedKeys(
    batchSize: Int, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileFacts {
    try ExportPass.run(over: source(), batchSize: batchSize, each: each).facts.get()
  }

  /// Hands all keys to `each`, `batchSize` at a time, without so much as hashing the file: for tools
  /// that measure what reading the keys costs by itself. Returns how many keys and revised keys there
  /// are, usable or not.
  ///
  /// Throws a `KeyFileError`, or whatever `each` throws.
  package func scannedKeys(
    batchSize: Int, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> Int {
    try ExportPass.scan(source(), batchSize: batchSize, each: each)
  }

  private func source() throws(KeyFileError) -> any ExportSource {
    try ZipSource.source(at: url)
  }

  private func reading() throws(KeyFileError) -> ExportReading {
    do {
      return try ExportPass.run(over: source(), batchSize: KeyFileLimit.batchSizes.lowerBound) {
        _ in
      }
    } catch let error as KeyFileError {
      throw error
    } catch {
      // Nothing else throws: the batches go nowhere.
      throw .damagedZip
    }
  }
}

/// A key file whose signature holds. Only `UnverifiedKeyFile.verified` makes one.
public struct VerifiedKeyFile: Sendable {
  /// What the file holds.
  public let facts: KeyFileFacts
  /// The key whose signature holds.
  public let signer: VerificationPublicKey

  /// What the file says about itself.
  public var header: KeyFileHeader { facts.header }
}
