// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@testable import DiagnosisKeyFile

@Suite("Zip bombs and sizes")
struct BombTests {
  /// A deflated zip whose export.bin is a header and then `byteCount` zeros.
  private func bomb(byteCount: Int, in folder: TemporaryFolder) throws -> UnverifiedKeyFile {
    let url = folder.path("bomb.zip")
    // One unknown field for all zeros, so that the export is well formed.
    var head = ExportFormat.magic
    head.appendVarint(15 << 3 | 2)
    head.appendVarint(UInt64(byteCount))
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    try AtomicFile.write(to: url) { descriptor in
      var zip = ZipWriter(descriptor)
      try zip.add(.export) { entry in
        try head.withRawBytes(entry.append)
        for start in stride(from: 0, to: byteCount, by: zeros.count) {
          try Array(zeros.prefix(byteCount - start)).withRawBytes(entry.append)
        }
      }
      try zip.finish()
    }
    return UnverifiedKeyFile(at: url)
  }

  @Test("A zip that expands a thousandfold is rejected while it is read")
  func ratio() throws {
    let folder = try TemporaryFolder()
    let file = try bomb(byteCount: 4 << 20, in: folder)
    #expect(throws: KeyFileError.expandsTooMuch) { try file.inspect() }
  }

  @Test("A zip of zeros within the allowed expansion is read")
  func withinRatio() throws {
    let folder = try TemporaryFolder()
    let file = try bomb(byteCount: 1 << 10, in: folder)
    #expect(try file.inspect().keyCount == 0)
  }

  @Test("An export that states a size one byte over the limit is rejected before it is read")
  func statedSize() throws {
    var zip = try RawKeyFile([Authority()]).zip
    zip.entries[0].statedByteCount = KeyFileLimit.exportByteCountMax + 1
    #expect(throws: KeyFileError.tooLarge) { try onDisk(zip.bytes) { try $0.inspect() } }
    zip.entries[0].statedByteCount = KeyFileLimit.exportByteCountMax
    #expect(throws: KeyFileError.damagedZip) { try onDisk(zip.bytes) { try $0.inspect() } }
  }

  @Test(
    "Signatures of exactly the size limit are read, one byte more is rejected",
    arguments: [-1, 0, 1])
  func signatureSize(difference: Int) throws {
    var zip = try RawKeyFile([Authority()]).zip
    // One unknown field for the remaining bytes: three bytes of tag and length.
    let left = KeyFileLimit.signatureFileByteCountMax - zip.entries[1].content.count + difference
    var filling: [UInt8] = []
    filling.appendField(15, [UInt8](repeating: 0, count: left - 4 + 1))
    zip.entries[1].content += filling.prefix(left)
    let isTooLarge = zip.entries[1].content.count > KeyFileLimit.signatureFileByteCountMax
    #expect(isTooLarge == (difference == 1))
    if isTooLarge {
      #expect(throws: KeyFileError.tooLarge) { try onDisk(zip.bytes) { try $0.inspect() } }
    } else {
      let facts = try onDisk(zip.bytes) { try $0.inspect() }
      #expect(facts.signatures.count == 1)
    }
  }

  @Test(
    "A file larger than the download limit is rejected without being opened", arguments: [0, 1])
  func fileSize(over: Int) throws {
    let folder = try TemporaryFolder()
    let url = folder.path("large.zip")
    try Data(ZipDirectory.localEntry).write(to: url)
    #expect(truncate(url.path, off_t(KeyFileLimit.fileByteCountMax + over)) == 0)
    #expect(throws: over == 0 ? KeyFileError.damagedZip : .tooLarge) {
      try UnverifiedKeyFile(at: url).inspect()
    }
  }
}
