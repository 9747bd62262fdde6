import Crypto
import ExposureKeys

/// One pass over a key file: digest, keys and signatures at once, whichever half comes first.
struct ExportPass {
  private var hash = SHA256()
  private var byteCount = 0
  private var scanner = ExportScanner()
  private var batcher: KeyBatcher
  private var signatureBytes: [UInt8] = []
  private var malformation: KeyFileError?

  /// Reads all of `source`; `each` gets the keys.
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

  /// Reads the keys of `source` and nothing else; how many there are, usable or not.
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
      // Hash on: whether the file was changed on its way or made wrong, the signature tells.
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
  ) throws(KeyFileError) -> KeyFileFacts {
    if let malformation { throw malformation }
    return KeyFileFacts(
      header: try scanner.finish(), signatures: signatures.infos, keyCount: scanner.keyCount,
      revisedKeyCount: scanner.revisedKeyCount, keysSkipped: batcher.keysSkipped,
      exportSHA256: Array(digest), exportByteCount: byteCount)
  }
}

/// What one pass over a key file found.
struct ExportReading {
  /// Of the whole export.bin.
  let digest: SHA256Digest
  let signatures: SignatureList
  /// What the export holds, or why it could not be read to its end.
  ///
  /// Both may be known of one file: a malformed export whose signature does not hold was changed on
  /// its way, and that is the answer that helps.
  let facts: Result<KeyFileFacts, KeyFileError>
}

/// Gathers keys into batches of one size, fresh and revised ones apart.
///
/// One buffer is used again and again; another is taken only while somebody still holds a batch.
struct KeyBatcher {
  private let batchSize: Int
  private var rows: [KeyRow] = []
  private var areRevised = false
  private(set) var keysSkipped = 0

  /// A size outside `KeyFileLimit.batchSizes` is brought inside.
  init(batchSize: Int) {
    let sizes = KeyFileLimit.batchSizes
    self.batchSize = min(max(batchSize, sizes.lowerBound), sizes.upperBound)
  }

  /// Adds a key; hands the batch on where it is full or of the other kind.
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

  /// Hands on what is left.
  mutating func flush(_ each: (ProvisionalKeyBatch) throws -> Void) throws {
    guard !rows.isEmpty else { return }
    try each(ProvisionalKeyBatch(keys: KeyBatch(rows: rows), areRevised: areRevised))
    rows.removeAll(keepingCapacity: true)
  }
}
