// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import DiagnosisKeyFile

/// A deviation that published files have, in a zip made by the test.
struct OddZip: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let deviations: [KeyFileDeviation]
  let change: @Sendable (inout RawZip) -> Void

  init(
    _ title: String, _ deviations: [KeyFileDeviation],
    _ change: @escaping @Sendable (inout RawZip) -> Void
  ) {
    (testDescription, self.deviations, self.change) = (title, deviations, change)
  }

  static let all = [
    OddZip("a comment", [.comment(5)]) { $0.comment = Array("hello".utf8) },
    OddZip("the longest comment", [.comment(0xffff)]) {
      $0.comment = [UInt8](repeating: 0x20, count: 0xffff)
    },
    OddZip("another signature", [.otherEntry("content.sig")]) {
      $0.entries.append(.init(name: "content.sig", content: [1, 2, 3]))
    },
    OddZip("another entry first", [.otherEntry("README.txt")]) {
      $0.entries.insert(.init(name: "README.txt", content: [1, 2, 3]), at: 0)
    },
    OddZip("another entry in bzip2", [.otherEntry("a.bz2")]) {
      $0.entries.append(.init(name: "a.bz2", content: [1, 2, 3], method: 12))
    },
    OddZip("another entry that is encrypted", [.otherEntry("secret")]) {
      $0.entries.append(.init(name: "secret", content: [1, 2, 3], flags: 1))
    },
    OddZip("a name that is not ASCII", [.otherEntry("żółć.txt")]) {
      $0.entries.append(.init(name: "żółć.txt", content: [], flags: 0x800))
    },
    OddZip(
      "a folder",
      [
        .folder("klucze ą/"), .otherName("klucze ą/export.bin", of: "export.bin"),
        .otherName("klucze ą/export.sig", of: "export.sig"),
      ]
    ) {
      for index in 0...1 {
        $0.entries[index].name = "klucze ą/" + $0.entries[index].name
        $0.entries[index].flags = 0x800
      }
      $0.entries.insert(
        .init(name: "klucze ą/", content: [], mode: 0o040755, flags: 0x800), at: 0)
    },
    OddZip("a folder with the name of the export", [.folder("export.bin/")]) {
      $0.entries.append(.init(name: "export.bin/", content: []))
    },
    OddZip("a path that starts with a dot", [.otherName("./export.bin", of: "export.bin")]) {
      $0.entries[0].name = "./export.bin"
    },
    OddZip("a path of Windows", [.otherName(".\\export.sig", of: "export.sig")]) {
      $0.entries[1].name = ".\\export.sig"
    },
    OddZip(
      "upper case",
      [.otherName("EXPORT.BIN", of: "export.bin"), .otherName("Export.Sig", of: "export.sig")]
    ) {
      $0.entries[0].name = "EXPORT.BIN"
      $0.entries[1].name = "Export.Sig"
    },
    OddZip(
      "forks of macOS",
      [
        .folder("__MACOSX/"), .otherEntry("__MACOSX/._export.bin"),
        .otherEntry("__MACOSX/export.bin"),
      ]
    ) {
      $0.entries += ["__MACOSX/", "__MACOSX/._export.bin", "__MACOSX/export.bin"].map {
        .init(name: $0, content: [])
      }
    },
    OddZip("zip64", []) { $0.isZip64 = true },
    OddZip("zip64 with a comment and another entry", [.otherEntry("a"), .comment(1)]) {
      $0.isZip64 = true
      $0.comment = [0]
      $0.entries.insert(.init(name: "a", content: [1]), at: 1)
    },
  ]
}

@Suite("Zips as they are published")
struct PublishedZipTests {
  private let authority = Authority()

  private func zip() throws -> RawZip { try RawKeyFile([authority]).zip }

  private func refusal(of bytes: [UInt8]) -> KeyFileError? {
    #expect(throws: KeyFileError.self) {
      try verify(bytes, by: [authority], accepting: .published)
    }
  }

  @Test("A deviating zip is read and verified by tools, with its deviations", arguments: OddZip.all)
  func accepted(odd: OddZip) throws {
    var zip = try zip()
    odd.change(&zip)
    let verified = try verify(zip.bytes, by: [authority], accepting: .published)
    #expect(verified.facts.keyCount == 2)
    #expect(verified.facts.deviations == odd.deviations)
    let keys = [try authority.publicKey()]
    let read = try UnverifiedKeyFile(published: zip.bytes).verified(by: keys, batchSize: 9) { _ in }
    #expect(read.facts == verified.facts)
  }

  @Test("A deviating zip is rejected by phones", arguments: OddZip.all)
  func rejectedByPhones(odd: OddZip) throws {
    var zip = try zip()
    odd.change(&zip)
    #expect(throws: KeyFileError.self) { try verify(zip.bytes, by: [authority]) }
    let url = try TemporaryFolder()
    let file = url.path("odd.zip")
    try Data(zip.bytes).write(to: file)
    #expect(throws: KeyFileError.self) { try UnverifiedKeyFile(at: file).inspect() }
  }

  @Test("Bytes before a zip are skipped, and phones reject them", arguments: [false, true])
  func leadingBytes(isZip64: Bool) throws {
    var zip = try zip()
    zip.isZip64 = isZip64
    let bytes = [UInt8](repeating: 0x23, count: 300) + zip.bytes
    let verified = try verify(bytes, by: [authority], accepting: .published)
    #expect(verified.facts.deviations == [.leadingBytes(300)])
    #expect(throws: KeyFileError.notAKeyFile) { try verify(bytes, by: [authority]) }
  }

  @Test(
    "Bytes after a zip are skipped, also with a comment, and phones reject them",
    arguments: [[0x0a], [0x0d, 0x0a], [UInt8](repeating: 0, count: 5_000)])
  func trailingBytes(_ trailing: [UInt8]) throws {
    for comment in [[], [1, 2, 3]] as [[UInt8]] {
      for isZip64 in [false, true] {
        var zip = try zip()
        (zip.comment, zip.isZip64) = (comment, isZip64)
        let bytes = zip.bytes + trailing
        let verified = try verify(bytes, by: [authority], accepting: .published)
        let skipped = KeyFileDeviation.trailingBytes(trailing.count)
        #expect(verified.facts.deviations == (comment.isEmpty ? [] : [.comment(3)]) + [skipped])
        #expect(throws: KeyFileError.damagedZip) { try verify(bytes, by: [authority]) }
      }
    }
  }

  @Test("Bytes before and after a zip are skipped, and an end without a directory is not its end")
  func surrounded() throws {
    let lines = Array("--part\r\n".utf8)
    let verified = try verify(
      lines + zip().bytes + lines, by: [authority], accepting: .published)
    #expect(verified.facts.deviations == [.leadingBytes(8), .trailingBytes(8)])
    let end = Array("PK\u{5}\u{6}".utf8) + [UInt8](repeating: 0, count: 30)
    let other = try verify(zip().bytes + end, by: [authority], accepting: .published)
    #expect(other.facts.deviations == [.trailingBytes(34)])
  }

  @Test("A file that we write has no deviations")
  func usual() throws {
    let folder = try TemporaryFolder()
    let url = folder.path("usual.zip")
    try KeyFileWriter.write(
      to: url, start: 1, end: 2, region: "PL", keys: testKeys(3_000),
      signers: [authority.signer()])
    let file = UnverifiedKeyFile(at: url, accepting: .published)
    let facts = try file.inspect()
    #expect(facts.deviations.isEmpty && facts.keyCount == 3_000)
    #expect(try facts == UnverifiedKeyFile(at: url).inspect())
  }

  @Test("An export without a zip is read, alone or beside its signatures in upper case")
  func exportAlone() throws {
    let file = try RawKeyFile([authority])
    let alone = try UnverifiedKeyFile(published: file.export).inspect()
    #expect(alone.keyCount == 2 && alone.signatures.isEmpty)
    let folder = try TemporaryFolder()
    try Data(file.export).write(to: folder.path("EXPORT.BIN"))
    try Data(file.signatures).write(to: folder.path("EXPORT.SIG"))
    let pair = UnverifiedKeyFile(at: folder.path("EXPORT.BIN"), accepting: .published)
    #expect(try pair.inspect().signatures.count == 1)
    let strict = UnverifiedKeyFile(at: folder.path("EXPORT.BIN"))
    #expect(try strict.inspect().signatures.isEmpty)
  }

  @Test(
    "Signatures beside an export are found in upper and lower case, the usual name first",
    arguments: [
      ("EXPORT.BIN", "export.sig"), ("export.bin", "EXPORT.SIG"), ("Export.bin", "export.Sig"),
      ("a.b.BIN", "A.B.sig"),
    ])
  func signaturesInOtherCase(export: String, signatures: String) throws {
    let file = try RawKeyFile([authority])
    let folder = try TemporaryFolder()
    try Data(file.export).write(to: folder.path(export))
    try Data(file.signatures).write(to: folder.path(signatures))
    let pair = UnverifiedKeyFile(at: folder.path(export), accepting: .published)
    let keys = [try authority.publicKey()]
    #expect(throws: Never.self) { try pair.verified(by: keys, batchSize: 9) { _ in } }
    let strict = UnverifiedKeyFile(at: folder.path(export))
    #expect(throws: KeyFileError.unsigned) { try strict.verified(by: keys, batchSize: 9) { _ in } }
    let usual = export.hasSuffix("BIN") ? "SIG" : "sig"
    try Data([1]).write(to: folder.path("\(export.dropLast(4)).\(usual)"))
    #expect(throws: KeyFileError.malformedSignatures) { try pair.inspect() }
  }

  @Test(
    "Two entries that could be the same half are rejected",
    arguments: [
      ("export.bin", 0), ("EXPORT.BIN", 0), ("./export.bin", 0), ("old/export.bin", 0),
      ("export.sig", 1), ("a/b/Export.sig", 1),
    ])
  func ambiguous(name: String, index: Int) throws {
    for isLast in [true, false] {
      var zip = try zip()
      var second = zip.entries[index]
      second.name = name
      zip.entries.insert(second, at: isLast ? zip.entries.count : 0)
      #expect(refusal(of: zip.bytes) == .duplicateEntry)
    }
  }

  @Test("An entry with another name in its local header is rejected")
  func twoNames() throws {
    var zip = try zip()
    zip.entries[0].localName = "export.bak"
    #expect(refusal(of: zip.bytes) == .damagedZip)
    zip = try self.zip()
    zip.entries.append(.init(name: "a.txt", content: [], localName: "export.bin"))
    #expect(refusal(of: zip.bytes) == .damagedZip)
  }

  @Test("A comment that looks like the end of another zip is rejected")
  func twoEnds() throws {
    var zip = try zip()
    zip.comment = RawZip(entries: []).bytes
    #expect(refusal(of: zip.bytes) == .damagedZip)
  }

  @Test(
    "An export or signatures in another compression are rejected by its name",
    arguments: [
      (9, "deflate64"), (12, "bzip2"), (14, "lzma"), (93, "zstandard"), (95, "xz"), (98, "ppmd"),
      (77, "method 77"),
    ])
  func compression(method: Int, name: String) throws {
    for index in 0...1 {
      var zip = try zip()
      zip.entries[index].method = method
      let refusal = refusal(of: zip.bytes)
      #expect(refusal == .unsupportedCompression(method))
      #expect(refusal?.description.contains("compressed with \(name):") == true)
    }
  }

  @Test("A link or an encrypted export is rejected")
  func notPlain() throws {
    var zip = try zip()
    zip.entries[0].mode = 0o120777
    #expect(refusal(of: zip.bytes) == .linkedEntry)
    for (index, flags) in [(0, UInt16(1)), (1, 1), (0, 0x41)] {
      zip = try self.zip()
      zip.entries[index].flags = flags
      #expect(refusal(of: zip.bytes) == .encryptedEntry)
    }
  }

  @Test(
    "An export under an absolute path or above the zip's folder is not read, and is no missing one",
    arguments: ["/export.bin", "../export.bin", "a/../EXPORT.bin", "\\export.bin"])
  func paths(name: String) throws {
    var zip = try zip()
    zip.entries[0].name = name
    #expect(refusal(of: zip.bytes) == .unusablePath)
  }

  @Test(
    "A zip without an export is rejected, also if it has an entry without a name",
    arguments: ["", "export", "export.bin.gz", "__MACOSX/../export.bin", "/export.sig"])
  func noExport(name: String) throws {
    var zip = try zip()
    zip.entries[0].name = name
    #expect(refusal(of: zip.bytes) == .missingExport)
  }

  @Test("An entry without a name is skipped and described as such")
  func namelessEntry() throws {
    var zip = try zip()
    zip.entries.append(.init(name: "", content: [1]))
    let facts = try verify(zip.bytes, by: [authority], accepting: .published).facts
    #expect(facts.deviations.map(\.description) == ["skipped an entry without a name"])
  }

  @Test("A zip of 1,000 entries is read, one of 1,001 and an empty one are rejected")
  func entryCount() throws {
    var zip = try zip()
    for index in 2..<KeyFileLimit.publishedEntryCountMax {
      zip.entries.append(.init(name: "\(index)", content: []))
    }
    let verified = try verify(zip.bytes, by: [authority], accepting: .published)
    #expect(verified.facts.deviations.count == 998)
    zip.entries.append(.init(name: "last", content: []))
    #expect(refusal(of: zip.bytes) == .wrongEntryCount)
    #expect(refusal(of: RawZip(entries: []).bytes) == .missingExport)
  }

  @Test("A truncated zip, and a count that is too high or too low, are rejected")
  func damaged() throws {
    var zip = try zip()
    zip.comment = [1, 2, 3]
    let bytes = zip.bytes
    for count in bytes.indices {
      #expect(throws: KeyFileError.self) {
        try UnverifiedKeyFile(published: Array(bytes.prefix(count))).inspect()
      }
    }
    for count in [1, 3] {
      zip.statedEntryCount = count
      #expect(refusal(of: zip.bytes) == .damagedZip)
    }
    #expect(refusal(of: Array("<html>".utf8)) == .notAKeyFile)
    #expect(refusal(of: []) == .notAKeyFile)
  }

  @Test("An entry that the directory has and its count does not is not read as another one")
  func hiddenEntry() throws {
    var zip = try zip()
    let export = zip.entries[0]
    zip.entries[0] = .init(name: "hidden", content: [1, 2, 3])
    zip.entries.insert(export, at: 0)
    zip.statedEntryCount = 1
    #expect(refusal(of: zip.bytes) == .damagedZip)
  }

  @Test("A position beyond the file, and the largest number, are rejected")
  func positions() throws {
    var zip = try zip()
    zip.isZip64 = true
    let bytes = zip.bytes
    for number in [UInt64(bytes.count), 1 << 62, UInt64(Int64.max), .max] {
      // The last eight bytes of the zip64 field of the second entry, before the 98 bytes of the end records.
      var changed = [UInt8](repeating: 0, count: 10) + bytes
      let place = changed.count - 98 - 8
      for index in 0..<8 {
        changed[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
      }
      #expect(refusal(of: changed) == .damagedZip)
    }
  }

  @Test("A published zip with any bit inverted is rejected or has the same export")
  func inverted() throws {
    var zip = try zip()
    zip.comment = [1, 2, 3]
    zip.isZip64 = true
    zip.entries.append(.init(name: "content.sig", content: [1, 2, 3]))
    let bytes = zip.bytes
    let keys = [try authority.publicKey()]
    let digest = try UnverifiedKeyFile(published: bytes).inspect().exportSHA256
    for position in bytes.indices {
      for bit in 0..<8 {
        var turned = bytes
        turned[position] ^= 1 << bit
        let file = UnverifiedKeyFile(published: turned)
        let read = try? file.verified(by: keys, batchSize: 100) { _ in }
        #expect(read == nil || read?.facts.exportSHA256 == digest)
      }
    }
  }
}
