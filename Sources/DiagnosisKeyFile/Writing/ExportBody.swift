// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import SwiftProtobuf

/// The body of an export.bin that is being written: keys are encoded, hashed and passed on at once, so
/// memory does not grow with their number.
///
/// It is valid only during the call of the closure that gets it.
public struct ExportBody: ~Copyable {
  private let header: KeyFileHeader
  private var outlet: HashedOutput
  private var encoder = KeyFieldEncoder(capacity: KeyFileLimit.chunkByteCount)
  private var keyCount = 0
  private var revisedKeyCount = 0
  /// The first failure. It makes the export fail even if the caller of `append` ignores the error.
  private var failure: KeyFileError?

  /// Begins an export with everything that comes before the keys.
  private init(_ header: KeyFileHeader, to outlet: consuming HashedOutput) throws(KeyFileError) {
    let wire: [UInt8]
    do { wire = try header.wire.serializedBytes() } catch { throw .unusableName }
    try (ExportFormat.magic + wire).withRawBytes { bytes throws(KeyFileError) in
      try outlet.put(bytes)
    }
    self.header = header
    self.outlet = outlet
  }

  /// Passes an export with the keys that `fill` appends to `receive`.
  ///
  /// - Returns: The counted content, and the digest to sign.
  static func writing(
    _ header: KeyFileHeader, to receive: @escaping HashedOutput.Receive,
    _ fill: (inout ExportBody) throws -> Void
  ) throws -> (facts: KeyFileSummary, digest: SHA256Digest) {
    var body = try ExportBody(header, to: HashedOutput(receive))
    try fill(&body)
    return try body.finish()
  }

  /// Appends the next key. Keys come in `DiagnosisKey.inFileOrder`, the revised ones after the others.
  ///
  /// - Throws: A `KeyFileError`, such as `.tooManyKeys` or `.diskFull`; then no file is written.
  public mutating func append(
    _ key: DiagnosisKey, isRevised: Bool = false
  ) throws(KeyFileError) {
    if let failure { throw failure }
    do throws(KeyFileError) {
      try encode(key, isRevised: isRevised)
    } catch {
      failure = error
      throw error
    }
  }

  private mutating func encode(_ key: DiagnosisKey, isRevised: Bool) throws(KeyFileError) {
    guard keyCount + revisedKeyCount < KeyFileLimit.keyCountMax else { throw .tooManyKeys }
    if encoder.isFull { try Self.empty(&encoder, into: &outlet) }
    guard encoder.append(key, isRevised: isRevised) else { throw .unusablePeriod }
    if isRevised { revisedKeyCount += 1 } else { keyCount += 1 }
  }

  private mutating func finish() throws(KeyFileError) -> (
    facts: KeyFileSummary, digest: SHA256Digest
  ) {
    if let failure { throw failure }
    try Self.empty(&encoder, into: &outlet)
    let digest = outlet.digest
    let facts = KeyFileSummary(
      header: header, signatures: header.signatureInfos, keyCount: keyCount,
      revisedKeyCount: revisedKeyCount, keysSkipped: 0, exportSHA256: Array(digest),
      exportByteCount: outlet.byteCount, deviations: [])
    return (facts, digest)
  }

  private static func empty(
    _ encoder: inout KeyFieldEncoder, into outlet: inout HashedOutput
  ) throws(KeyFileError) {
    try encoder.empty { bytes throws(KeyFileError) in try outlet.put(bytes) }
  }
}

/// Passes bytes on and hashes them.
struct HashedOutput {
  typealias Receive = (UnsafeRawBufferPointer) throws(KeyFileError) -> Void

  private let receive: Receive
  private var hash = SHA256()
  private(set) var byteCount = 0

  init(_ receive: @escaping Receive) {
    self.receive = receive
  }

  var digest: SHA256Digest { hash.finalize() }

  mutating func put(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    hash.update(bufferPointer: bytes)
    byteCount += bytes.count
    try receive(bytes)
  }
}

/// Encodes keys as fields of export.bin into a buffer that is reused.
///
/// Written by hand for speed: a file holds hundreds of thousands of keys with the same few fields.
/// Fields with default values are omitted, as Google's server does.
struct KeyFieldEncoder {
  /// The maximum size of a field: tag and length, 18 bytes of key data, six small fields.
  static let fieldByteCountMax = 2 + 18 + 6 * 7

  private var buffer: [UInt8]
  /// The number of bytes in the buffer.
  private(set) var count = 0

  /// An encoder that takes about `capacity` bytes before it must be emptied.
  init(capacity: Int) {
    buffer = [UInt8](repeating: 0, count: max(capacity, Self.fieldByteCountMax))
  }

  /// True if there is no room for another key.
  var isFull: Bool { buffer.count - count < Self.fieldByteCountMax }

  /// Encodes a key; the encoder must not be full. Returns `false` and writes nothing if the start does not
  /// fit the format's 31 bits.
  mutating func append(_ key: DiagnosisKey, isRevised: Bool) -> Bool {
    guard let start = Int32(exactly: key.key.rollingStart.rawValue) else { return false }
    let before = count
    count += 2
    appendKeyData(key.key.secretWords)
    if key.transmissionRiskLevel != 0 { append(2, UInt64(key.transmissionRiskLevel)) }
    if start != 0 { append(3, UInt64(start)) }
    let period = key.key.rollingPeriod
    if period != IntervalNumber.perDay { append(4, UInt64(period)) }
    if let type = key.reportType { append(5, UInt64(type.rawValue)) }
    if let days = key.daysSinceOnsetOfSymptoms {
      append(6, UInt64(UInt32(bitPattern: days << 1 ^ days >> 31)))
    }
    if let variant = key.variantOfConcern { append(8, UInt64(variant.rawValue)) }
    buffer[before] = UInt8(ExportFormat.keyField(isRevised: isRevised)) << 3 | 2
    // A message is shorter than 128 bytes, so its length takes one byte.
    buffer[before + 1] = UInt8(count - before - 2)
    return true
  }

  /// Passes the content of the buffer on and clears it.
  mutating func empty<Failure: Error>(
    _ receive: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    defer { count = 0 }
    try buffer.withUnsafeBufferPointer { bytes throws(Failure) in
      try receive(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count])))
    }
  }

  private mutating func appendKeyData(_ words: (UInt64, UInt64)) {
    buffer[count] = 1 << 3 | 2
    buffer[count + 1] = UInt8(TemporaryExposureKey.byteCount)
    let at = count + 2
    buffer.withUnsafeMutableBytes {
      $0.storeBytes(of: words.0, toByteOffset: at, as: UInt64.self)
      $0.storeBytes(of: words.1, toByteOffset: at + 8, as: UInt64.self)
    }
    count += 2 + TemporaryExposureKey.byteCount
  }

  private mutating func append(_ number: UInt8, _ value: UInt64) {
    buffer[count] = number << 3
    count += 1
    var rest = value
    while rest >= 0x80 {
      buffer[count] = UInt8(truncatingIfNeeded: rest) | 0x80
      count += 1
      rest >>= 7
    }
    buffer[count] = UInt8(rest)
    count += 1
  }
}
