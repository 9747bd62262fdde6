// SPDX-License-Identifier: Apache-2.0
import CLibDeflate
import Foundation

/// An entry in the directory of a zip.
struct ZipEntry {
  let name: [UInt8]
  let method: Int
  let sizes: Sizes
  let isEncrypted: Bool
  let isFolder: Bool
  let isLink: Bool

  /// The numbers that the directory has in a zip64 field if they need more than 32 bits.
  struct Sizes {
    var byteCount: Int
    var compressedByteCount: Int
    /// The position of the local header, from the start of the zip.
    var position: Int
    /// The CRC-32 of the content.
    var checksum = 0
  }

  var position: Int { sizes.position }

  /// The half of the key file that the entry is, in any folder, in upper or lower case; nil if it is skipped.
  var part: ExportPart? {
    guard !isFolder, path.first != "", !path.contains(".."), !isOfMacOS else { return nil }
    return path.last.flatMap { ExportPart(rawValue: $0.lowercased()) }
  }

  /// True if the entry is named like the export, but its path is absolute or leads out of the zip.
  var isExportAtUnusablePath: Bool {
    !isFolder && part == nil && !isOfMacOS
      && path.last?.lowercased() == ExportPart.export.rawValue
  }

  private var path: [Substring] {
    text.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
  }

  private var isOfMacOS: Bool { path.contains("__MACOSX") }

  /// The note for the user, or nil if the entry is as the format wants it.
  var deviation: KeyFileDeviation? {
    guard let part else { return isFolder ? .folder(text) : .otherEntry(text) }
    return text == part.rawValue ? nil : .otherName(text, of: part.rawValue)
  }

  var text: String { String(decoding: name, as: UTF8.self) }

  /// Returns `true` if the local header is where the directory says, and has the same name: with two names, readers
  /// disagree about which entry is the export.
  func isAtItsPosition(in bytes: LittleEndianBytes, of start: Int) -> Bool {
    guard position < bytes.count else { return false }
    let place = start + position
    return bytes.has(ZipDirectory.localEntry, at: place)
      && bytes.number(at: place + 26, 2) == name.count && bytes.has(name, at: place + 30)
  }
}

extension ZipEntry {
  /// Reads the entry of the directory at `place`. Returns it and the position of the next one.
  static func read(
    _ bytes: LittleEndianBytes, at place: Int
  ) -> (entry: ZipEntry, next: Int)? {
    guard bytes.has(ZipDirectory.listedEntry, at: place),
      let system = bytes.number(at: place + 5, 1), let flags = bytes.number(at: place + 8, 2),
      let method = bytes.number(at: place + 10, 2),
      let attributes = bytes.number(at: place + 38, 4),
      let nameLength = bytes.number(at: place + 28, 2),
      let extraLength = bytes.number(at: place + 30, 2),
      let commentLength = bytes.number(at: place + 32, 2),
      let sizes = sizes(bytes, at: place, extra: place + listedByteCount + nameLength)
    else { return nil }
    let next = place + listedByteCount + nameLength + extraLength + commentLength
    guard next <= bytes.count else { return nil }
    let name = bytes.bytes[place + listedByteCount..<place + listedByteCount + nameLength]
    // The high half of the attributes is the Unix mode, if the zip was written on Unix.
    let type = system == unix ? attributes >> 16 & 0o170000 : 0
    return (
      ZipEntry(
        name: Array(name), method: method, sizes: sizes, isEncrypted: flags & 1 == 1,
        isFolder: name.last == UInt8(ascii: "/") || type == 0o040000 || attributes & 0x10 != 0,
        isLink: type == 0o120000), next
    )
  }

  /// The sizes and the position; those that are all ones are in the zip64 field of the extra data, in this order.
  private static func sizes(_ bytes: LittleEndianBytes, at place: Int, extra: Int) -> Sizes? {
    guard let checksum = bytes.number(at: place + 16, 4),
      let compressed = bytes.number(at: place + 20, 4), let size = bytes.number(at: place + 24, 4),
      let position = bytes.number(at: place + 42, 4), let length = bytes.number(at: place + 30, 2)
    else { return nil }
    var numbers = [size, compressed, position]
    let wide = numbers.indices.filter { numbers[$0] == Int(UInt32.max) }
    if !wide.isEmpty {
      guard var field = zip64Field(bytes, in: extra..<extra + length) else { return nil }
      for index in wide {
        guard let number = bytes.number(at: field, 8) else { return nil }
        numbers[index] = number
        field += 8
      }
    }
    return Sizes(
      byteCount: numbers[0], compressedByteCount: numbers[1], position: numbers[2],
      checksum: checksum)
  }

  /// The position of the values of the zip64 field in the extra data.
  private static func zip64Field(_ bytes: LittleEndianBytes, in extra: Range<Int>) -> Int? {
    var field = extra.lowerBound
    while field + 4 <= extra.upperBound, let count = bytes.number(at: field + 2, 2) {
      if bytes.number(at: field, 2) == 1 { return field + 4 }
      field += 4 + count
    }
    return nil
  }

  private static let listedByteCount = 46
  private static let unix = 3
}

extension ZipEntry {
  /// Passes the content of the entry to `receive` in chunks, and checks its size and its checksum.
  ///
  /// - Parameter budget: The number of bytes that the entries of the zip may still expand to.
  /// - Throws: A `KeyFileError`, or the error of `receive`.
  func read(
    in zip: LittleEndianBytes, as part: ExportPart, within budget: inout Int,
    _ receive: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard sizes.byteCount <= part.byteCountMax else { throw KeyFileError.tooLarge }
    let compressed = try compressedBytes(in: zip)
    if method == 0 {
      guard compressed.count == sizes.byteCount else { throw KeyFileError.damagedZip }
      try pass(compressed, to: receive)
    } else {
      let content = try inflated(compressed, within: budget)
      try content.withPrefix(sizes.byteCount) { try pass($0, to: receive) }
    }
    budget -= sizes.byteCount
  }

  /// Passes `content` on in chunks, each of which is in the processor's cache for the checksum and for `receive`.
  private func pass(
    _ content: UnsafeRawBufferPointer, to receive: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var checksum = CRC32()
    for start in stride(from: 0, to: content.count, by: KeyFileLimit.chunkByteCount) {
      let end = min(start + KeyFileLimit.chunkByteCount, content.count)
      let chunk = UnsafeRawBufferPointer(rebasing: content[start..<end])
      checksum.update(chunk)
      try receive(chunk)
    }
    guard Int(checksum.value) == sizes.checksum else { throw KeyFileError.damagedZip }
  }

  /// The bytes after the local header, which has its own extra field.
  private func compressedBytes(
    in zip: LittleEndianBytes
  ) throws(KeyFileError) -> UnsafeRawBufferPointer {
    guard isAtItsPosition(in: zip, of: 0), zip.number(at: position + 8, 2) == method,
      let extraByteCount = zip.number(at: position + 28, 2)
    else { throw .damagedZip }
    let start = position + Self.localByteCount + name.count + extraByteCount
    guard start <= zip.count, sizes.compressedByteCount <= zip.count - start else {
      throw .damagedZip
    }
    let end = start + sizes.compressedByteCount
    return UnsafeRawBufferPointer(rebasing: zip.bytes[start..<end])
  }

  /// Inflates the entry, which must have exactly its stated size.
  private func inflated(
    _ compressed: UnsafeRawBufferPointer, within budget: Int
  ) throws(KeyFileError) -> ReservedMemory {
    let room = min(sizes.byteCount, max(budget, 0))
    guard let decompressor = libdeflate_alloc_decompressor(),
      let memory = ReservedMemory(byteCount: room)
    else { throw .cannotRead(ENOMEM) }
    defer { libdeflate_free_decompressor(decompressor) }
    var (readByteCount, byteCount) = (0, 0)
    let result = libdeflate_deflate_decompress_ex(
      decompressor, compressed.baseAddress, compressed.count, memory.bytes.baseAddress, room,
      &readByteCount, &byteCount)
    if result == LIBDEFLATE_INSUFFICIENT_SPACE, room < sizes.byteCount { throw .expandsTooMuch }
    guard result == LIBDEFLATE_SUCCESS, readByteCount == compressed.count,
      byteCount == sizes.byteCount
    else { throw .damagedZip }
    return memory
  }

  private static let localByteCount = 30
}
