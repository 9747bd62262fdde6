// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import SwiftProtobuf
import TestSupport
import Testing
import TextEncodings

@testable import DiagnosisKeyFile

@Suite("Key file writer")
struct KeyFileWriterTests {
  private let authority = Authority()

  @discardableResult
  private func write(
    _ keys: [DiagnosisKey], revisedKeys: [DiagnosisKey] = [], region: String = "PL",
    by authorities: [Authority]? = nil, to url: URL
  ) throws -> KeyFileSummary {
    try KeyFileWriter.write(
      to: url, start: 1_600_000_000, end: 1_600_014_400, region: region, keys: keys,
      revisedKeys: revisedKeys, signers: try (authorities ?? [authority]).map { try $0.signer() })
  }

  @Test("A written file is read back key by key, in batches of at most the requested size")
  func roundTrip() throws {
    let folder = try TemporaryFolder()
    let url = folder.path("1.zip")
    let (keys, revisedKeys) = (testKeys(5000), testKeys(300, seed: 2))
    let facts = try write(keys, revisedKeys: revisedKeys, to: url)
    var read: [Bool: [DiagnosisKey]] = [:]
    let verified = try UnverifiedKeyFile(at: url).verified(
      by: [try authority.publicKey()], batchSize: 64
    ) { batch in
      #expect(1...64 ~= batch.keys.count)
      read[batch.areRevised, default: []] += batch.keys
    }
    #expect(read == [false: keys, true: revisedKeys])
    #expect(verified.facts == facts)
    #expect((facts.keyCount, facts.revisedKeyCount, facts.keysSkipped) == (5000, 300, 0))
    #expect((facts.header.start, facts.header.end) == (1_600_000_000, 1_600_014_400))
    #expect(folder.files().map(\.lastPathComponent) == ["1.zip"])
  }

  @Test("A file that is signed later is the same zip, and no phone accepts it before")
  func signedLater() throws {
    let folder = try TemporaryFolder()
    let (url, whole) = (folder.path("1.zip"), folder.path("2.zip"))
    let signers = [try authority.signer()]
    let unsigned = try UnsignedKeyFile(
      at: url, start: 1_600_000_000, end: 1_600_014_400, region: "PL", signers: signers
    ) { body in
      for key in testKeys(50) { try body.append(key) }
    }
    let keys = [try authority.publicKey()]
    #expect(throws: KeyFileError.self) {
      _ = try UnverifiedKeyFile(at: url).verified(by: keys, batchSize: 64) { _ in }
    }
    try unsigned.append(unsigned.signatures(by: signers))
    var count = 0
    let verified = try UnverifiedKeyFile(at: url).verified(by: keys, batchSize: 64) {
      count += $0.keys.count
    }
    #expect(count == 50)
    #expect(verified.facts == (try write(testKeys(50), to: whole)))
    // Everything before the signature, which is random.
    let zips = try [url, whole].map { [UInt8](try Data(contentsOf: $0)) }
    #expect(zips[0].prefix(1000) == zips[1].prefix(1000))
  }

  @Test("The same keys give the same export each time")
  func reproducible() throws {
    let folder = try TemporaryFolder()
    let facts = try (1...2).map { try write(testKeys(50), to: folder.path("\($0).zip")) }
    #expect(facts[0] == facts[1])
    let zips = try (1...2).map { [UInt8](try Data(contentsOf: folder.path("\($0).zip"))) }
    // Everything before the signature, which is random.
    #expect(zips[0].prefix(1000) == zips[1].prefix(1000))
  }

  @Test("All signers' signatures are valid, in the given order")
  func signers() throws {
    let folder = try TemporaryFolder()
    let url = folder.path("1.zip")
    let authorities = (1...3).map { Authority(keyVersion: "v\($0)") }
    let facts = try write(testKeys(3), by: authorities, to: url)
    #expect(facts.signatures.map(\.verificationKeyVersion) == ["v1", "v2", "v3"])
    for authority in authorities {
      let keys = [try authority.publicKey()]
      #expect(throws: Never.self) {
        try UnverifiedKeyFile(at: url).verified(by: keys, batchSize: 10) { _ in }
      }
    }
  }

  @Test("A file with 1 to 10 signers is written, others are rejected", arguments: [0, 1, 10, 11])
  func signerCount(count: Int) throws {
    let folder = try TemporaryFolder()
    let authorities = (0..<count).map { Authority(keyVersion: "v\($0)") }
    let facts = try? write(testKeys(1), by: authorities, to: folder.path("1.zip"))
    #expect((facts != nil) == (1...10 ~= count))
  }

  @Test("A region of 1 to 64 bytes is written, others are rejected", arguments: [0, 1, 64, 65])
  func region(length: Int) throws {
    let folder = try TemporaryFolder()
    let region = String(repeating: "P", count: length)
    let facts = try? write(testKeys(1), region: region, to: folder.path("1.zip"))
    #expect((facts != nil) == (1...64 ~= length))
    #expect(folder.files().count == (1...64 ~= length ? 1 : 0))
  }

  @Test("A period that ends before it starts is rejected")
  func period() throws {
    let folder = try TemporaryFolder()
    let signer = try authority.signer()
    #expect(throws: KeyFileError.unusablePeriod) {
      try KeyFileWriter.write(
        to: folder.path("1.zip"), start: 2, end: 1, region: "PL", keys: [], signers: [signer])
    }
  }

  @Test("One key too many is rejected, and nothing is left behind")
  func tooManyKeys() throws {
    let folder = try TemporaryFolder()
    let key = try #require(testKeys(1).first)
    let signer = try authority.signer()
    #expect(throws: KeyFileError.tooManyKeys) {
      try KeyFileWriter.write(
        to: folder.path("1.zip"), start: 0, end: 1, region: "PL",
        keys: repeatElement(key, count: KeyFileLimit.keyCountMax + 1), signers: [signer])
    }
    #expect(folder.files().isEmpty)
  }

  @Test("A rejected key makes the write fail, even if the caller ignores the error")
  func passedOver() throws {
    let folder = try TemporaryFolder()
    let signer = try authority.signer()
    // One interval beyond the format's 31 bits.
    let start = IntervalNumber(rawValue: 1 << 31)
    let late = try #require(
      TemporaryExposureKey(
        bytes: [UInt8](repeating: 1, count: 16), rollingStart: start, rollingPeriod: 144))
    let key = try #require(DiagnosisKey(key: late))
    #expect(throws: KeyFileError.unusablePeriod) {
      try KeyFileWriter.write(
        to: folder.path("1.zip"), start: 0, end: 1, region: "PL", signers: [signer]
      ) { body in
        for good in testKeys(3) { try body.append(good) }
        try? body.append(key)
        for good in testKeys(3) { try? body.append(good) }
      }
    }
    #expect(folder.files().isEmpty)
  }

  @Test("An aborted export leaves nothing behind, and writes nothing into a file opened after it")
  func givenUp() throws {
    struct GivenUp: Error {}
    let folder = try TemporaryFolder()
    let keys = testKeys(40_000)
    let signer = try authority.signer()
    for round in 0..<5 {
      #expect(throws: GivenUp.self) {
        try KeyFileWriter.write(
          to: folder.path("1.zip"), start: 0, end: 1, region: "PL", signers: [signer]
        ) { export in
          for key in keys { try export.append(key) }
          throw GivenUp()
        }
      }
      // The system reuses the descriptor of the aborted file.
      let next = folder.path("next-\(round)")
      let descriptor = open(next.path, O_CREAT | O_WRONLY, 0o600)
      defer { close(descriptor) }
      usleep(20_000)
      #expect(try Data(contentsOf: next).isEmpty)
    }
    #expect(folder.files().map(\.lastPathComponent).sorted() == (0..<5).map { "next-\($0)" })
  }

  @Test(
    "A full disk leaves nothing behind and the existing file unchanged",
    .needs(.smallDisk))
  func diskFull() throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let url = disk.url.appendingPathComponent("1.zip")
    try write(testKeys(100), to: url)
    let older = try Data(contentsOf: url)
    // 8,000 keys would fit; with these the zip alone is too large.
    for count in [16_000, 20_000] {
      #expect(throws: KeyFileError.diskFull) { try write(testKeys(count), to: url) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == ["1.zip"])
      #expect(try Data(contentsOf: url) == older)
    }
    try write(testKeys(200), to: url)
    #expect(try UnverifiedKeyFile(at: url).inspect().keyCount == 200)
  }

  @Test("A missing folder is an error with the system's code")
  func noFolder() throws {
    let folder = try TemporaryFolder()
    #expect(throws: KeyFileError.cannotWrite(ENOENT)) {
      try write(testKeys(1), to: folder.path("none/1.zip"))
    }
  }

  @Test("A published unsigned export is encoded byte by byte", .enabled(if: SharedData.isPresent))
  func golden() throws {
    struct Vectors: Decodable {
      struct Golden: Decodable {
        let sha256_base64: String
        let bytes: String
      }
      let golden_unsigned_export: Golden
    }
    let vectors = try JSONDecoder().decode(
      Vectors.self, from: Data(contentsOf: SharedData.url("vectors/gaen_export_vectors.json")))
    let header = KeyFileHeader(
      start: 1_588_291_200, end: 1_588_294_800, region: "US", batchNumber: 1, batchSize: 1,
      signatureInfos: [SignatureInfo(verificationKeyID: "310", verificationKeyVersion: "1")])
    let digits = vectors.golden_unsigned_export.bytes
    let golden = try #require(Data(hexadecimal: digits))
    var scanner = ExportScanner()
    var encoded = ExportFormat.magic
    var fields: [UInt8] = []
    try golden.withUnsafeBytes { bytes in
      try scanner.scan(bytes) { key, isRevised in
        fields.appendField(ExportFormat.keyField(isRevised: isRevised), ReadKey(key).encoded)
      }
    }
    let read = try scanner.finish()
    #expect(read == header)
    encoded += try read.wire.serializedBytes() as [UInt8]
    encoded += fields
    #expect(encoded.hexadecimal == digits)
    let digest = Data(SHA256.hash(data: encoded)).base64EncodedString()
    #expect(digest == vectors.golden_unsigned_export.sha256_base64)
    #expect((scanner.keyCount, scanner.revisedKeyCount) == (3, 1))
  }
}
