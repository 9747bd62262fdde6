// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import DiagnosisKeyFile

@Suite("Rejected zips and exports")
struct RefusalTests {
  private let authority = Authority()

  private func zip() throws -> RawZip { try RawKeyFile([authority]).zip }

  private func refusal(of zip: RawZip) -> KeyFileError? {
    #expect(throws: KeyFileError.self) { try verify(zip.bytes, by: [authority]) }
  }

  @Test("The unchanged test file is valid, with its halves in either order")
  func right() throws {
    var zip = try zip()
    #expect(throws: Never.self) { try verify(zip.bytes, by: [authority]) }
    zip.entries.reverse()
    #expect(throws: Never.self) { try verify(zip.bytes, by: [authority]) }
  }

  @Test(
    "An entry with any other name is rejected",
    arguments: [
      "../export.bin", "/export.bin", "./export.bin", "a/export.bin", "export.bin/", "EXPORT.BIN",
      "export.sig.bin", "export", "",
    ])
  func names(name: String) throws {
    var zip = try zip()
    zip.entries[0].name = name
    let refusal = refusal(of: zip)
    #expect([.unexpectedEntry, .notAPlainEntry, .damagedZip].contains(refusal))
  }

  @Test("A duplicate entry is rejected")
  func duplicate() throws {
    var zip = try zip()
    zip.entries[1] = zip.entries[0]
    #expect(refusal(of: zip) == .duplicateEntry)
  }

  @Test("A third entry and an empty zip are rejected")
  func count() throws {
    var zip = try zip()
    zip.entries.append(.init(name: "readme.txt", content: []))
    #expect(refusal(of: zip) == .wrongEntryCount)
    zip.statedEntryCount = 2
    #expect(refusal(of: zip) == .damagedZip)
    zip.entries = []
    zip.statedEntryCount = nil
    #expect(throws: KeyFileError.self) { try verify(zip.bytes, by: [authority]) }
  }

  @Test("A link or a folder is rejected", arguments: [UInt32(0o120777), 0o040755])
  func kinds(mode: UInt32) throws {
    var zip = try zip()
    zip.entries[0].mode = mode
    #expect(throws: KeyFileError.self) { try verify(zip.bytes, by: [authority]) }
  }

  @Test("An encrypted entry is rejected")
  func encrypted() throws {
    var zip = try zip()
    zip.entries[0].flags = 1
    #expect(throws: KeyFileError.self) { try verify(zip.bytes, by: [authority]) }
  }

  @Test("An entry that is neither stored nor deflated is rejected", arguments: [9, 12, 14, 95, 98])
  func methods(method: Int) throws {
    for index in 0...1 {
      var zip = try zip()
      zip.entries[index].method = method
      #expect(refusal(of: zip) == .damagedZip)
    }
  }

  @Test("A zip without export.bin is rejected; one without export.sig is unsigned")
  func missing() throws {
    var zip = try zip()
    let export = zip.entries.removeFirst()
    #expect(refusal(of: zip) == .missingExport)
    zip.entries = [export]
    #expect(refusal(of: zip) == .unsigned)
    let facts = try onDisk(zip.bytes) { try $0.inspect() }
    #expect(facts.signatures.isEmpty && facts.keyCount == 2)
  }

  @Test("A zip with a comment, or with bytes after its end, is rejected")
  func comment() throws {
    var zip = try zip()
    #expect(throws: KeyFileError.damagedZip) { try verify(zip.bytes + [0], by: [authority]) }
    zip.comment = Array("PK".utf8)
    #expect(refusal(of: zip) == .damagedZip)
  }

  @Test(
    "A file that is neither a zip nor an export is rejected",
    arguments: ["", "PK", "EK Export v2    "])
  func other(text: String) throws {
    #expect(throws: KeyFileError.notAKeyFile) { try verify(Array(text.utf8), by: [authority]) }
  }

  @Test("An export of another version is rejected")
  func version() throws {
    var zip = try zip()
    zip.entries[0].content[11] = 0x32
    #expect(refusal(of: zip) == .wrongExportVersion)
  }

  @Test("A missing file and a folder are errors")
  func notThere() throws {
    let folder = try TemporaryFolder()
    #expect(throws: KeyFileError.cannotRead(ENOENT)) {
      try UnverifiedKeyFile(at: folder.path("none.zip")).inspect()
    }
    #expect(throws: KeyFileError.notAKeyFile) { try UnverifiedKeyFile(at: folder.url).inspect() }
  }

  @Test("Every error has its own message with a remedy")
  func sentences() {
    let all: [KeyFileError] = [
      .cannotRead(2), .cannotWrite(2), .diskFull, .notAKeyFile, .damagedZip, .wrongEntryCount,
      .unexpectedEntry, .duplicateEntry, .notAPlainEntry, .unsupportedCompression(12),
      .encryptedEntry, .linkedEntry, .unusablePath, .missingExport, .tooLarge,
      .expandsTooMuch, .wrongExportVersion, .malformedExport, .tooManyKeys, .malformedSignatures,
      .tooManySignatures, .signatureCountMismatch, .wrongBatchNumbers, .unsigned,
      .noSignatureByTheseKeys, .unsupportedAlgorithm, .signatureMismatch, .notAPublicKey,
      .notAPrivateKey, .unusableName, .unusablePeriod, .wrongSignerCount,
    ]
    #expect(Set(all.map(\.description)).count == all.count)
    for error in all {
      #expect(error.description.hasSuffix(".") && error.description.contains(": "))
      #expect(!error.description.contains("\n"))
    }
  }

  @Test("A code stands for errors with different details")
  func codes() {
    #expect(KeyFileError.cannotRead(EIO) != .cannotRead(ENOENT))
    #expect(KeyFileError.cannotRead(EIO).code == .cannotRead)
    #expect(KeyFileError.cannotRead(EIO).systemError == EIO)
    #expect("\(KeyFileError.damagedZip.code)" == "damagedZip")
  }
}
