// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A key file in memory as health authorities have published them: a zip that may have a comment, other entries, and
/// other names for the two halves.
///
/// Only tools read it; phones use `ZipSource`. Documentation/KeyFiles.md, "Published files", has the deviations.
struct PublishedZipSource: ExportSource {
  private let content: [UInt8]
  private let directory: PublishedZipDirectory

  var deviations: [KeyFileDeviation] { directory.deviations }

  init(_ content: [UInt8]) throws(KeyFileError) {
    guard content.count <= KeyFileLimit.fileByteCountMax else { throw .tooLarge }
    self.content = content
    directory = try content.withLittleEndianBytes(PublishedZipDirectory.init)
  }

  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
    try content.withUnsafeBytes { bytes in
      let zip = LittleEndianBytes(bytes: UnsafeRawBufferPointer(rebasing: bytes[directory.zip]))
      var budget = zip.count * KeyFileLimit.expansionMax
      for entry in directory.entries {
        guard let part = entry.part else { continue }
        try entry.read(in: zip, as: part, within: &budget) { try receive(part, $0) }
      }
    }
  }
}

extension PublishedZipSource {
  /// The source for the file at `url`, chosen by its content: a zip, or an export beside its signatures.
  static func source(at url: URL) throws(KeyFileError) -> any ExportSource {
    let file = try ReadableFile(url)
    let head = try file.bytes(at: 0, count: ExportFormat.magic.count)
    if head == ExportFormat.magic {
      return PairSource(export: url, signatures: signatures(beside: url))
    }
    guard file.byteCount <= KeyFileLimit.fileByteCountMax else { throw .tooLarge }
    return try PublishedZipSource(try file.bytes(at: 0, count: file.byteCount))
  }

  /// The file of the signatures beside `export`, also if its name differs in case; nil if there is none.
  private static func signatures(beside export: URL) -> URL? {
    let stem = export.deletingPathExtension()
    let isUpperCase = export.pathExtension == "BIN"
    let usual = isUpperCase ? "SIG" : PairSource.signaturesExtension
    let wanted = "\(stem.lastPathComponent).\(usual)"
    let folder = export.deletingLastPathComponent()
    // Then the reader reports the error for the usual name.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let similar = names.filter { $0.lowercased() == wanted.lowercased() }
    let name = similar.contains(wanted) ? wanted : similar.min()
    return name.map(folder.appendingPathComponent)
  }

  /// The source for `content`: a zip, or an export without signatures.
  static func source(of content: [UInt8]) throws(KeyFileError) -> any ExportSource {
    guard content.starts(with: ExportFormat.magic) else { return try PublishedZipSource(content) }
    guard content.count <= KeyFileLimit.exportByteCountMax else { throw .tooLarge }
    return ExportContent(content: content)
  }
}

/// An export in memory, without signatures.
private struct ExportContent: ExportSource {
  let content: [UInt8]

  func read(_ receive: (ExportPart, UnsafeRawBufferPointer) throws -> Void) throws {
    try content.withUnsafeBytes { try receive(.export, $0) }
  }
}
