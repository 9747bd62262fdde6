// SPDX-License-Identifier: Apache-2.0
import CLibArchive
import Foundation
import TestSupport
import Testing
import TextEncodings
import World

@testable import DiagnosisKeyFile

/// The window of deflate.
private let window = 32 << 10

@Suite("Zip writer")
struct ZipWriterTests {
  /// Half random, half repeated from shortly before or from just within deflate's window: like keys.
  private func content(_ byteCount: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 7)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount + 64)
    while bytes.count < byteCount {
      let word = UInt64.random(in: 0...UInt64.max, using: &generator)
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (shift * 8))) }
      let reach = word & 1 == 0 ? 40 : window - 300
      let start = max(0, bytes.count - reach)
      bytes += Array(bytes[start..<min(start + 24, bytes.count)])
    }
    return Array(bytes.prefix(byteCount))
  }

  /// A zip of `export`, appended in chunks of the given size, and of a short signature.
  private func zip(
    _ export: [UInt8], chunk: Int = 1 << 16, at url: URL
  ) throws -> [UInt8] {
    try AtomicFile.write(to: url) { descriptor in
      var zip = ZipWriter(descriptor)
      try zip.add(.export) { entry in
        for start in stride(from: 0, to: export.count, by: chunk) {
          try Array(export[start..<min(start + chunk, export.count)]).withRawBytes(entry.append)
        }
      }
      try zip.add(.signatures) { entry in try [UInt8]([1, 2, 3]).withRawBytes(entry.append) }
      try zip.finish()
    }
    return [UInt8](try Data(contentsOf: url))
  }

  @Test(
    "The end of a zip is detected as invalid if the file is truncated anywhere or extended")
  func ends() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("a.zip")
    let whole = try zip(content(100), at: file)
    #expect(UnverifiedKeyFile(at: file).hasValidZipEnd)
    for count in 0..<whole.count {
      try Data(whole.prefix(count)).write(to: file)
      #expect(!UnverifiedKeyFile(at: file).hasValidZipEnd, "\(count)")
    }
    for other in [whole + [0], [0] + whole, whole + whole] {
      try Data(other).write(to: file)
      #expect(!UnverifiedKeyFile(at: file).hasValidZipEnd)
    }
    #expect(!UnverifiedKeyFile(at: folder.path("none.zip")).hasValidZipEnd)
  }

  /// The content as libarchive reads it, which is independent of our reader and writer.
  private func read(_ url: URL) throws -> [String: [UInt8]] {
    let archive = try #require(archive_read_new())
    defer { archive_read_free(archive) }
    archive_read_support_format_zip_seekable(archive)
    try #require(archive_read_open_filename(archive, url.path, 1 << 16) == ARCHIVE_OK)
    var parts: [String: [UInt8]] = [:]
    var entry: OpaquePointer?
    while archive_read_next_header(archive, &entry) == ARCHIVE_OK {
      let name = String(cString: try #require(archive_entry_pathname(entry)))
      var content = [UInt8](repeating: 0, count: Int(archive_entry_size(entry)) + 1)
      // The result is an error if the checksum is wrong.
      let count = archive_read_data(archive, &content, content.count)
      parts[name] = Array(content.prefix(Int(count)))
    }
    return parts
  }

  /// Sizes around the reader's chunk, deflate's window and libdeflate's blocks.
  static let byteCounts: [Int] = {
    let borders: [Int] = [window, KeyFileLimit.chunkByteCount, 300_000, 1 << 20]
    return [0, 1, 9 * window + 5]
      + borders.flatMap { (border: Int) in [border - 1, border, border + 1] }
  }()

  @Test("Content of any size is read back by libarchive and by our reader", arguments: byteCounts)
  func roundTrip(byteCount: Int) throws {
    let folder = try TemporaryFolder()
    let export = content(byteCount)
    _ = try zip(export, at: folder.path("1.zip"))
    let isSame = try read(folder.path("1.zip")) == ["export.bin": export, "export.sig": [1, 2, 3]]
    #expect(isSame)
    var parts: [ExportPart: [UInt8]] = [.export: [], .signatures: []]
    try ZipSource(url: folder.path("1.zip"), byteCount: 1 << 30).read { part, chunk in
      parts[part]? += chunk
    }
    let isSameToUs = parts == [.export: export, .signatures: [1, 2, 3]]
    #expect(isSameToUs)
  }

  @Test("The same content gives the same bytes, for any chunk size")
  func reproducible() throws {
    let folder = try TemporaryFolder()
    for byteCount in [100, 1 << 17, 700_017] {
      let export = content(byteCount)
      let first = try zip(export, at: folder.path("1.zip"))
      for chunk in [7, 4_093, 1 << 17, byteCount] {
        let again = try zip(export, chunk: chunk, at: folder.path("2.zip"))
        // Compared outside the expectation, which would compute a difference of both arrays.
        let isSame = again == first
        #expect(isSame, "\(byteCount) bytes, chunks of \(chunk)")
      }
    }
  }

  @Test("Repeated content within the window takes no space")
  func repeated() throws {
    let folder = try TemporaryFolder()
    let chance = Array(content(1 << 16).prefix(30_000))
    let repeated = (0..<20).flatMap { _ in chance }
    let once = try zip(chance, at: folder.path("1.zip")).count
    let twentyTimes = try zip(repeated, at: folder.path("2.zip")).count
    #expect(twentyTimes < 2 * once)
  }

  @Test(
    "The container follows APPNOTE.TXT byte by byte: no date, no extra field, sizes before the entry"
  )
  func golden() throws {
    let folder = try TemporaryFolder()
    let zip = try zip([], at: folder.path("1.zip"))
    let export = Array("export.bin".utf8).hexadecimal
    let signatures = Array("export.sig".utf8).hexadecimal
    // An empty stored block, and one that holds 1, 2, 3; the CRC is from zlib in Python.
    let (empty, three, sum) = ("010000ffff", "010300fcff" + "010203", "1d80bc55")
    let kind = "1400" + "0000" + "0800" + "00002100"
    let zero = "00000000"
    let sizes = [zero + "05000000" + zero, sum + "08000000" + "03000000"]
    let expected =
      "504b0304" + kind + sizes[0] + "0a000000" + export + empty
      + "504b0304" + kind + sizes[1] + "0a000000" + signatures + three
      + "504b0102" + "1403" + kind + sizes[0] + "0a000000"
      + "000000000000" + "0000a481" + zero + export
      + "504b0102" + "1403" + kind + sizes[1] + "0a000000"
      + "000000000000" + "0000a481" + "2d000000" + signatures
      + "504b0506" + zero + "02000200" + "70000000" + "5d000000" + "0000"
    #expect(zip.hexadecimal == expected)
  }

  @Test(
    "An entry of exactly its limit is written, one byte more is rejected", arguments: [-1, 0, 1])
  func entryLimit(difference: Int) throws {
    let folder = try TemporaryFolder()
    let bytes = content(KeyFileLimit.signatureFileByteCountMax + difference)
    func write() throws {
      try AtomicFile.write(to: folder.path("1.zip")) { descriptor in
        var zip = ZipWriter(descriptor)
        try zip.add(.signatures) { entry in try bytes.withRawBytes(entry.append) }
        try zip.finish()
      }
    }
    if difference == 1 {
      #expect(throws: KeyFileError.tooLarge) { try write() }
      #expect(folder.files().isEmpty)
    } else {
      #expect(throws: Never.self) { try write() }
    }
  }

  /// A pipe without a reader that takes the given number of bytes, in whole pages.
  private func pipe(taking byteCount: Int, _ body: (Int32) throws -> Void) throws {
    var ends: [Int32] = [0, 0]
    let result = Foundation.pipe(&ends)
    try #require(result == 0)
    defer { ends.forEach { close($0) } }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    var page = [UInt8](repeating: 0, count: 4_096)
    while write(ends[1], page, page.count) == page.count {}
    for _ in 0..<byteCount / page.count {
      let count = Foundation.read(ends[0], &page, page.count)
      try #require(count == page.count)
    }
    try body(ends[1])
  }

  @Test("A failed write ends the export", arguments: [0, 4_096, 16_384, 61_440])
  func failing(after byteCount: Int) throws {
    let export = content(24 * window)
    try pipe(taking: byteCount) { descriptor in
      // The error of a full pipe.
      #expect(throws: KeyFileError.cannotWrite(EAGAIN)) {
        var zip = ZipWriter(descriptor)
        try zip.add(.export) { entry in try export.withRawBytes(entry.append) }
      }
    }
  }

  @Test("A full device and a read-only descriptor are different errors")
  func devices() throws {
    for (flags, error) in [
      (O_WRONLY, KeyFileError.diskFull), (O_RDONLY, .cannotWrite(EBADF)),
    ] {
      let descriptor = open("/dev/full", flags)
      defer { close(descriptor) }
      #expect(throws: error) {
        var zip = ZipWriter(descriptor)
        try zip.add(.signatures) { _ in }
      }
    }
  }
}

@Suite("CRC-32")
struct CRC32Tests {
  @Test(
    "The checksum is the published check value, for any split of the nine digits", arguments: 0...9)
  func check(at cut: Int) {
    let digits = Array("123456789".utf8)
    var checksum = CRC32()
    digits.withUnsafeBytes { bytes in
      checksum.update(UnsafeRawBufferPointer(rebasing: bytes[..<cut]))
      checksum.update(UnsafeRawBufferPointer(rebasing: bytes[cut...]))
    }
    #expect(checksum.value == 0xcbf4_3926)
  }
}
