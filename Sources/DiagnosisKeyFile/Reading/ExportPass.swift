// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import SwiftProtobuf

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
    return try pass.finish(deviations: source.deviations, each: each)
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
    } catch let error as KeyFileError where error.code == .malformedExport {
      // Hashing continues: the signature shows if the file was corrupted in transit or published malformed.
      malformation = .malformedExport
    }
  }

  private mutating func finish(
    deviations: [KeyFileDeviation], each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> ExportReading {
    try batcher.flush(each)
    let digest = hash.finalize()
    let signatures = try SignatureList(decoding: signatureBytes)
    return ExportReading(
      digest: digest, signatures: signatures,
      facts: Result { () throws(KeyFileError) in
        try facts(digest: digest, signatures: signatures, deviations: deviations)
      })
  }

  private func facts(
    digest: SHA256Digest, signatures: SignatureList, deviations: [KeyFileDeviation]
  ) throws(KeyFileError) -> KeyFileSummary {
    if let malformation { throw malformation }
    return KeyFileSummary(
      header: try scanner.finish(), signatures: signatures.infos, keyCount: scanner.keyCount,
      revisedKeyCount: scanner.revisedKeyCount, keysSkipped: batcher.keysSkipped,
      exportSHA256: Array(digest), exportByteCount: byteCount,
      deviations: deviations)
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

/// The signatures of a key file, parsed from export.sig.
struct SignatureList {
  private let signatures: [WireTEKSignature]

  /// Parses export.sig; an empty file has no signatures.
  init(decoding bytes: [UInt8]) throws(KeyFileError) {
    let list: WireTEKSignatureList
    do {
      list = try WireTEKSignatureList(serializedBytes: bytes)
    } catch {
      throw .malformedSignatures
    }
    guard list.signatures.count <= KeyFileLimit.signatureCountMax else { throw .tooManySignatures }
    signatures = list.signatures
  }

  var infos: [SignatureInfo] {
    signatures.map { SignatureInfo(wire: $0.signatureInfo) }
  }

  /// Returns the first of `keys` with a valid signature over `digest`.
  ///
  /// Signatures by other keys are ignored: an authority that replaces its key signs with both for a while.
  func signer(
    among keys: [VerificationPublicKey], of digest: SHA256Digest,
    accepting tolerance: KeyFileTolerance
  ) throws(KeyFileError) -> VerificationPublicKey {
    guard !signatures.isEmpty else { throw .unsigned }
    var refusal = KeyFileError.noSignatureByTheseKeys
    for signature in signatures {
      for key in keys where names(signature.signatureInfo, key) {
        guard tolerance.accepts(algorithm: signature.signatureInfo.signatureAlgorithm) else {
          refusal = .unsupportedAlgorithm
          continue
        }
        if key.isValid(signature.signature, for: digest) { return key }
        refusal = .signatureMismatch
      }
    }
    throw refusal
  }

  /// Throws if export and signatures disagree on the number of signatures or on the batch.
  func check(against header: KeyFileHeader) throws(KeyFileError) {
    guard signatures.count == header.signatureInfos.count else { throw .signatureCountMismatch }
    guard header.batchNumber >= 1, header.batchNumber <= header.batchSize,
      signatures.allSatisfy({
        $0.batchNum == header.batchNumber && $0.batchSize == header.batchSize
      })
    else { throw .wrongBatchNumbers }
  }

  /// Returns `true` if the signature names `key`. Only a single signature may omit the id.
  private func names(_ info: WireSignatureInfo, _ key: VerificationPublicKey) -> Bool {
    let isAnonymous = info.verificationKeyID.isEmpty && signatures.count == 1
    return (isAnonymous || info.verificationKeyID == key.keyID)
      && info.verificationKeyVersion == key.keyVersion
  }
}
