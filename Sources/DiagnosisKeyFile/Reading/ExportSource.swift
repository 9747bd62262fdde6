// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A source of both halves of a key file, chunk by chunk.
protocol ExportSource {
  /// Passes all chunks of both halves to `receive`. The chunks of a half come in order, the halves in any.
  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws

  /// The deviations from the format in the file.
  var deviations: [KeyFileDeviation] { get }
}

extension ExportSource {
  /// None: a strict source rejects them.
  var deviations: [KeyFileDeviation] { [] }
}

extension ZipSource {
  /// The source for the file at `url`, chosen by its first bytes, not by its name.
  static func source(at url: URL) throws(KeyFileError) -> any ExportSource {
    let file = try ReadableFile(url)
    guard file.byteCount <= KeyFileLimit.fileByteCountMax else { throw .tooLarge }
    let head = try file.bytes(at: 0, count: ExportFormat.magic.count)
    if head == ExportFormat.magic { return PairSource(export: url) }
    guard head.starts(with: ZipDirectory.localEntry) else { throw .notAKeyFile }
    return ZipSource(url: url, byteCount: file.byteCount)
  }
}

/// A downloaded key file: a zip of `export.bin` and `export.sig`.
struct ZipSource: ExportSource {
  let url: URL
  let byteCount: Int

  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
    let file = try ReadableFile(url)
    let directory = try ZipDirectory(of: file)
    var seen: [(part: ExportPart, entry: ZipEntry)] = []
    for entry in directory.entries {
      let part = try part(of: entry)
      guard !seen.contains(where: { $0.part == part }) else { throw KeyFileError.duplicateEntry }
      seen.append((part, entry))
    }
    guard seen.contains(where: { $0.part == .export }) else { throw KeyFileError.missingExport }
    try file.content().withPrefix(file.byteCount) { content in
      let zip = LittleEndianBytes(bytes: content)
      var budget = byteCount * KeyFileLimit.expansionMax
      for (part, entry) in seen {
        try entry.read(in: zip, as: part, within: &budget) { try receive(part, $0) }
      }
    }
  }

  /// The half of the key file that `entry` is.
  private func part(of entry: ZipEntry) throws(KeyFileError) -> ExportPart {
    guard let part = ExportPart(rawValue: entry.text) else { throw .unexpectedEntry }
    guard !entry.isFolder, !entry.isLink, !entry.isEncrypted else { throw .notAPlainEntry }
    return part
  }
}

/// The end of a zip: the number of entries and the position of the central directory.
///
/// It is checked before the content is read. A key file has no comment, is a single file and needs no zip64.
/// APPNOTE.TXT 4.3.16.
struct ZipDirectory {
  /// The signature of a local file header, with which every zip with content begins.
  static let localEntry: [UInt8] = [0x50, 0x4b, 0x03, 0x04]
  /// The signature of the end of central directory record.
  static let end: [UInt8] = [0x50, 0x4b, 0x05, 0x06]
  /// The signature of the locator of a zip64 end of central directory record.
  static let zip64Locator: [UInt8] = [0x50, 0x4b, 0x06, 0x07]
  private static let endByteCount = 22
  private static let zip64LocatorByteCount = 20

  /// The entries in the order of the directory, all stored or deflated.
  let entries: [ZipEntry]

  /// Reads the end of `file`; throws if it is not the end of a plain zip within the limits.
  init(of file: ReadableFile) throws(KeyFileError) {
    let start = file.byteCount - Self.endByteCount
    guard start >= 0 else { throw .damagedZip }
    let record = try file.bytes(at: start, count: Self.endByteCount)
    guard record.count == Self.endByteCount, record.starts(with: Self.end) else {
      throw .damagedZip
    }
    func number(_ range: Range<Int>) -> Int {
      record[range].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    let (disks, count, countHere) = (number(4..<8), number(10..<12), number(8..<10))
    let (byteCount, offset, comment) = (number(12..<16), number(16..<20), number(20..<22))
    guard disks == 0, comment == 0, offset + byteCount == start, count == countHere else {
      throw .damagedZip
    }
    guard 1...KeyFileLimit.entryCountMax ~= count else { throw .wrongEntryCount }
    guard byteCount <= KeyFileLimit.zipDirectoryByteCountMax else { throw .damagedZip }
    let before = try file.bytes(
      at: max(0, start - Self.zip64LocatorByteCount), count: Self.zip64LocatorByteCount)
    guard !before.starts(with: Self.zip64Locator) else { throw .damagedZip }
    let list = try file.bytes(at: offset, count: byteCount)
    entries = try list.withLittleEndianBytes { list throws(KeyFileError) in
      try Self.entries(in: list, count: count)
    }
  }

  private static func entries(
    in list: LittleEndianBytes, count: Int
  ) throws(KeyFileError) -> [ZipEntry] {
    var place = 0
    var entries: [ZipEntry] = []
    for _ in 0..<count {
      guard let (entry, next) = ZipEntry.read(list, at: place), methods.contains(entry.method)
      else { throw .damagedZip }
      entries.append(entry)
      place = next
    }
    // Other readers read up to the end, also more entries than are stated.
    guard place == list.count else { throw .damagedZip }
    return entries
  }

  /// The signature of an entry of the central directory.
  static let listedEntry: [UInt8] = [0x50, 0x4b, 0x01, 0x02]
  /// Stored and deflated.
  static let methods = [0, 8]
}

/// A key file without a zip: an export beside its signatures, `x.bin` and `x.sig`.
struct PairSource: ExportSource {
  let export: URL
  let signatures: URL

  /// - Parameter signatures: The file of the signatures if it has another name than usual.
  init(export: URL, signatures: URL? = nil) {
    self.export = export
    self.signatures =
      signatures ?? export.deletingPathExtension().appendingPathExtension(Self.signaturesExtension)
  }

  /// The extension of the signatures' file name.
  static let signaturesExtension = "sig"

  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
    try read(export, as: .export, receive)
    do {
      try read(signatures, as: .signatures, receive)
    } catch let error as KeyFileError where error == .cannotRead(ENOENT) {
      // Without signatures the file can be inspected, but not verified.
    }
  }

  private func read(
    _ url: URL, as part: ExportPart,
    _ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let file = try ReadableFile(url)
    guard file.byteCount <= part.byteCountMax else { throw KeyFileError.tooLarge }
    try file.readAll { chunk in try receive(part, chunk) }
  }
}

/// An open file; closed with its last reference.
final class ReadableFile {
  let byteCount: Int
  private let descriptor: Int32

  /// Opens `url`, which must be a regular file.
  init(_ url: URL) throws(KeyFileError) {
    // O_NONBLOCK, so that a pipe is rejected instead of waited for.
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .cannotRead(errno) }
    self.descriptor = descriptor
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      byteCount = 0
      throw .cannotRead(errno)
    }
    byteCount = Int(status.st_size)
    guard status.st_mode & 0o170000 == 0o100000 else { throw .notAKeyFile }
  }

  deinit {
    close(descriptor)
  }

  /// Returns `count` bytes at `offset`, or fewer at the end of the file.
  func bytes(at offset: Int, count: Int) throws(KeyFileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = pread(descriptor, &bytes, count, off_t(offset))
    guard read >= 0 else { throw .cannotRead(errno) }
    return Array(bytes.prefix(read))
  }

  /// Returns the whole file.
  func content() throws(KeyFileError) -> ReservedMemory {
    guard let memory = ReservedMemory(byteCount: byteCount) else { throw .cannotRead(ENOMEM) }
    var offset = 0
    while offset < byteCount {
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[offset..<byteCount])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset))
      guard count >= 0 else { throw .cannotRead(errno) }
      // Truncated since it was opened.
      guard count > 0 else { throw .damagedZip }
      offset += count
    }
    return memory
  }

  /// Passes the whole file on in chunks, all in one buffer.
  func readAll(_ receive: (UnsafeRawBufferPointer) throws -> Void) throws {
    var chunk = [UInt8](repeating: 0, count: KeyFileLimit.chunkByteCount)
    var offset = 0
    while true {
      let count = pread(descriptor, &chunk, chunk.count, off_t(offset))
      guard count >= 0 else { throw KeyFileError.cannotRead(errno) }
      guard count > 0 else { return }
      try chunk.withUnsafeBytes { try receive(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += count
    }
  }
}
