// SPDX-License-Identifier: Apache-2.0
import SwiftProtobuf

/// Parses export.bin chunk by chunk; keeps at most one incomplete field in memory.
///
/// Fields may come in any order. Keys are parsed in place and passed on at once. The other known fields
/// are small and kept for SwiftProtobuf to decode at the end. Unknown fields are skipped.
struct ExportScanner {
  /// The bytes of an incomplete field.
  private(set) var unread: [UInt8] = []
  /// The fields 1...6 in the order of the file.
  private(set) var headerBytes: [UInt8] = []
  private(set) var keyCount = 0
  private(set) var revisedKeyCount = 0
  private var hasReadMagic = false
  private var bytesToSkip = 0

  /// Parses the next chunk; `each` gets every complete key, and `true` if it is a revised one. The key
  /// borrows memory that is valid only until `each` returns.
  mutating func scan(
    _ chunk: UnsafeRawBufferPointer, each: (borrowing KeyFields, Bool) throws -> Void
  ) throws {
    let rest = try finishUnread(with: chunk, each: each)
    let read = try scan(whole: rest, each: each)
    unread.append(contentsOf: rest[read...])
  }

  /// Ends the export and decodes its header.
  func finish() throws(KeyFileError) -> KeyFileHeader {
    guard hasReadMagic else { throw .wrongExportVersion }
    guard unread.isEmpty, bytesToSkip == 0 else { throw .malformedExport }
    let wire: WireTemporaryExposureKeyExport
    do {
      wire = try WireTemporaryExposureKeyExport(serializedBytes: headerBytes)
    } catch {
      throw .malformedExport
    }
    guard wire.signatureInfos.count <= KeyFileLimit.signatureCountMax else {
      throw .tooManySignatures
    }
    guard wire.region.utf8.count <= KeyFileLimit.regionByteCountMax else { throw .unusableName }
    return KeyFileHeader(wire: wire)
  }
}

extension ExportScanner {
  /// Completes the partial field of the last chunk, with as few bytes of `chunk` as possible.
  ///
  /// - Returns: The rest of `chunk`.
  private mutating func finishUnread(
    with chunk: UnsafeRawBufferPointer, each: (borrowing KeyFields, Bool) throws -> Void
  ) throws -> UnsafeRawBufferPointer {
    var taken = 0
    while !unread.isEmpty, taken < chunk.count {
      let carried = unread.count
      // A key takes one step; a header field, which may be long, takes steps of growing size.
      let step = min(max(KeyFileLimit.keyMessageByteCountMax, carried), chunk.count - taken)
      unread.append(contentsOf: chunk[taken..<taken + step])
      taken += step
      let read = try unread.withUnsafeBytes { try scan(whole: $0, each: each) }
      guard read < carried else {
        unread.removeAll(keepingCapacity: true)
        taken -= carried + step - read
        break
      }
      unread.removeFirst(read)
    }
    return UnsafeRawBufferPointer(rebasing: chunk[taken...])
  }

  /// Parses all complete fields of `bytes`; returns their size in bytes.
  private mutating func scan(
    whole bytes: UnsafeRawBufferPointer, each: (borrowing KeyFields, Bool) throws -> Void
  ) throws -> Int {
    var read = try readMagic(bytes)
    guard hasReadMagic else { return 0 }
    while read < bytes.count {
      let passed = min(bytesToSkip, bytes.count - read)
      bytesToSkip -= passed
      read += passed
      read += try readCommonKeys(UnsafeRawBufferPointer(rebasing: bytes[read...]), each: each)
      var cursor = ProtobufCursor(UnsafeRawBufferPointer(rebasing: bytes[read...]))
      do {
        guard !cursor.isAtEnd else { break }
        try readField(&cursor, each: each)
      } catch ProtobufCursor.ParseError.incomplete {
        break
      } catch ProtobufCursor.ParseError.malformed {
        throw KeyFileError.malformedExport
      }
      read += cursor.offset
    }
    return read
  }

  /// Parses keys of the common form as long as enough bytes follow them; returns their size in bytes.
  private mutating func readCommonKeys(
    _ bytes: UnsafeRawBufferPointer, each: (borrowing KeyFields, Bool) throws -> Void
  ) throws -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    let room = bytes.count - KeyFields.fastByteCountMax - KeyFields.fastSlack
    var read = 0
    while read <= room {
      let (tag, length) = (bytes[read], Int(bytes[read + 1]))
      let isRevised = tag == UInt8(ExportFormat.revisedKeyField << 3 | 2)
      guard isRevised || tag == UInt8(ExportFormat.keyField << 3 | 2),
        length >= 18, 2 + length <= KeyFields.fastByteCountMax,
        keyCount + revisedKeyCount < KeyFileLimit.keyCountMax,
        let key = KeyFields(common: start + read + 2, byteCount: length)
      else { break }
      try each(key, isRevised)
      count(isRevised: isRevised)
      read += 2 + length
    }
    return read
  }

  private mutating func readMagic(_ bytes: UnsafeRawBufferPointer) throws(KeyFileError) -> Int {
    guard !hasReadMagic else { return 0 }
    guard ExportFormat.magic.starts(with: bytes.prefix(ExportFormat.magic.count)) else {
      throw .wrongExportVersion
    }
    hasReadMagic = bytes.count >= ExportFormat.magic.count
    return hasReadMagic ? ExportFormat.magic.count : 0
  }

  private mutating func readField(
    _ cursor: inout ProtobufCursor, each: (borrowing KeyFields, Bool) throws -> Void
  ) throws {
    let tag = try cursor.tag()
    switch (tag.number, tag.wireType) {
    case (ExportFormat.keyField, .lengthDelimited),
      (ExportFormat.revisedKeyField, .lengthDelimited):
      let isRevised = tag.number == ExportFormat.revisedKeyField
      try each(try readKey(&cursor), isRevised)
      count(isRevised: isRevised)
    case (ExportFormat.headerFields, _): try keepHeader(tag, &cursor)
    case (_, .lengthDelimited): bytesToSkip = try cursor.length()
    default: try cursor.skip(tag.wireType)
    }
  }

  @inline(__always)
  private mutating func count(isRevised: Bool) {
    if isRevised { revisedKeyCount += 1 } else { keyCount += 1 }
  }

  private func readKey(_ cursor: inout ProtobufCursor) throws -> KeyFields {
    let length = try cursor.length()
    guard length <= KeyFileLimit.keyMessageByteCountMax else { throw KeyFileError.malformedExport }
    guard keyCount + revisedKeyCount < KeyFileLimit.keyCountMax else {
      throw KeyFileError.tooManyKeys
    }
    guard let fields = KeyFields(try cursor.take(length)) else {
      throw KeyFileError.malformedExport
    }
    return fields
  }

  private mutating func keepHeader(
    _ tag: ProtobufCursor.Tag, _ cursor: inout ProtobufCursor
  ) throws {
    var field: [UInt8] = []
    field.appendVarint(tag.number << 3 | tag.wireType.rawValue)
    switch tag.wireType {
    case .varint: field.appendVarint(try cursor.varint())
    case .fixed64: field += try cursor.take(8)
    case .fixed32: field += try cursor.take(4)
    case .lengthDelimited:
      let length = try cursor.length()
      guard length <= KeyFileLimit.headerByteCountMax else { throw KeyFileError.malformedExport }
      field.appendVarint(UInt64(length))
      field += try cursor.take(length)
    }
    guard headerBytes.count + field.count <= KeyFileLimit.headerByteCountMax else {
      throw KeyFileError.malformedExport
    }
    headerBytes += field
  }
}

/// Reads protobuf fields from bytes in memory, and detects if the bytes end too early.
struct ProtobufCursor {
  enum ParseError: Error {
    /// The bytes end inside the value; more bytes may complete it.
    case incomplete
    /// No more bytes can make the value valid.
    case malformed
  }

  enum WireType: UInt64 {
    case varint = 0
    case fixed64 = 1
    case lengthDelimited = 2
    case fixed32 = 5
  }

  struct Tag {
    let number: UInt64
    let wireType: WireType
  }

  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { offset == bytes.count }
  var remaining: Int { bytes.count - offset }

  mutating func tag() throws(ParseError) -> Tag {
    let raw = try varint()
    // Groups (3 and 4) were deprecated before this format was published; no server writes them.
    guard raw < UInt64(UInt32.max), raw >> 3 != 0, let wireType = WireType(rawValue: raw & 7) else {
      throw .malformed
    }
    return Tag(number: raw >> 3, wireType: wireType)
  }

  mutating func varint() throws(ParseError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard offset < bytes.count else { throw .incomplete }
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 {
        // The tenth byte has room for one bit.
        guard shift < 63 || byte <= 1 else { throw .malformed }
        return value
      }
    }
    throw .malformed
  }

  /// The length of the following bytes, limited to the size of an export.
  mutating func length() throws(ParseError) -> Int {
    let raw = try varint()
    guard raw <= UInt64(KeyFileLimit.exportByteCountMax) else { throw .malformed }
    return Int(raw)
  }

  mutating func take(_ count: Int) throws(ParseError) -> UnsafeRawBufferPointer {
    guard count <= remaining else { throw .incomplete }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  /// Skips a value of the given type.
  mutating func skip(_ wireType: WireType) throws(ParseError) {
    switch wireType {
    case .varint: _ = try varint()
    case .fixed64: _ = try take(8)
    case .fixed32: _ = try take(4)
    case .lengthDelimited: _ = try take(try length())
    }
  }
}

extension ProtobufCursor {
  /// An `int32`: the low 32 bits of the varint.
  mutating func int32() throws(ParseError) -> Int32 {
    Int32(truncatingIfNeeded: try varint())
  }

  /// A `sint32` in zigzag encoding.
  mutating func sint32() throws(ParseError) -> Int32 {
    let raw = UInt32(truncatingIfNeeded: try varint())
    return Int32(bitPattern: raw >> 1) ^ -Int32(bitPattern: raw & 1)
  }
}

extension [UInt8] {
  mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}
