import Crypto
import ExposureKeys

/// One pass over a key file: hashes it, scans its keys and collects its signatures.
struct ExportPass {
  private var hash = SHA256()
  private var byteCount = 0
  private var scanner = ExportScanner()
  private var batcher: KeyBatcher
  private var signatureBytes: [UInt8] = []
  private var malformation: KeyFileError?

  static func run(
    over source: any ExportSource, batchSize: Int, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> ExportReading {
    var pass = ExportPass(batcher: KeyBatcher(batchSize: batchSize))
    try source.read { part, chunk in
      switch part {
      case .export: try pass.readExport(chunk, each: each)
      case .signatures: pass.signatureBytes += chunk
      }
    }
    return try pass.finish(each: each)
  }

  /// Scans the keys of `source` without hashing it. Returns their number, including invalid ones.
  static func scan(
    _ source: any ExportSource, batchSize: Int, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> Int {
    var scanner = ExportScanner()
    var batcher = KeyBatcher(batchSize: batchSize)
    try source.read { part, chunk in
      guard part == .export else { return }
      try scanner.scan(chunk) { fields, isRevised in
        try batcher.add(fields, isRevised: isRevised, each: each)
      }
    }
    try batcher.flush(each)
    _ = try scanner.finish()
    return scanner.keyCount + scanner.revisedKeyCount
  }

  private mutating func readExport(
    _ chunk: UnsafeRawBufferPointer, each: (ProvisionalKeyBatch) throws -> Void
  ) throws {
    hash.update(bufferPointer: chunk)
    byteCount += chunk.count
    guard malformation == nil else { return }
    do {
      try scanner.scan(chunk) { fields, isRevised in
        try batcher.add(fields, isRevised: isRevised, each: each)
      }
    } catch KeyFileError.malformedExport {
      // Hashing continues: the signature shows if the file was corrupted in transit or published malformed.
      malformation = .malformedExport
    }
  }

  private mutating func finish(
    each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> ExportReading {
    try batcher.flush(each)
    let digest = hash.finalize()
    let signatures = try SignatureList(decoding: signatureBytes)
    return ExportReading(
      digest: digest, signatures: signatures,
      facts: Result { () throws(KeyFileError) in
        try facts(digest: digest, signatures: signatures)
      })
  }

  private func facts(
    digest: SHA256Digest, signatures: SignatureList
  ) throws(KeyFileError) -> KeyFileSummary {
    if let malformation { throw malformation }
    return KeyFileSummary(
      header: try scanner.finish(), signatures: signatures.infos, keyCount: scanner.keyCount,
      revisedKeyCount: scanner.revisedKeyCount, keysSkipped: batcher.keysSkipped,
      exportSHA256: Array(digest), exportByteCount: byteCount)
  }
}

/// The result of one pass over a key file.
struct ExportReading {
  /// SHA-256 of the whole export.bin.
  let digest: SHA256Digest
  let signatures: SignatureList
  /// The counted content, or the error if the export is malformed.
  ///
  /// A malformed export with an invalid signature was corrupted in transit. The signature error is then the
  /// more useful one, so both results are kept.
  let facts: Result<KeyFileSummary, KeyFileError>
}

/// Collects keys into batches of one size, new and revised keys apart.
///
/// The buffer is reused; a copy is made only if the receiver keeps a batch.
struct KeyBatcher {
  private let batchSize: Int
  private var rows: [KeyRow] = []
  private var areRevised = false
  private(set) var keysSkipped = 0

  /// A size outside `KeyFileLimit.batchSizes` is clamped.
  init(batchSize: Int) {
    let sizes = KeyFileLimit.batchSizes
    self.batchSize = min(max(batchSize, sizes.lowerBound), sizes.upperBound)
  }

  /// Adds a key; passes the batch on if it is full or of the other kind.
  @inline(__always)
  mutating func add(
    _ fields: borrowing KeyFields, isRevised: Bool, each: (ProvisionalKeyBatch) throws -> Void
  ) throws {
    guard let row = KeyRow(fields) else {
      keysSkipped += 1
      return
    }
    if isRevised != areRevised || rows.isEmpty { try turn(isRevised: isRevised, each) }
    rows.append(row)
    if rows.count == batchSize { try flush(each) }
  }

  private mutating func turn(
    isRevised: Bool, _ each: (ProvisionalKeyBatch) throws -> Void
  ) throws {
    try flush(each)
    areRevised = isRevised
    rows.reserveCapacity(batchSize)
  }

  /// Passes the remaining keys on.
  mutating func flush(_ each: (ProvisionalKeyBatch) throws -> Void) throws {
    guard !rows.isEmpty else { return }
    try each(ProvisionalKeyBatch(keys: KeyBatch(rows: rows), areRevised: areRevised))
    rows.removeAll(keepingCapacity: true)
  }
}
