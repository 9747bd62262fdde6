// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import DiagnosisKeyFile

/// The two published files and their known content.
enum PublishedFile: String, CaseIterable, CustomTestStringConvertible {
  case example = "keyfiles/google-server-example/testExport-2-records-1-of-1.zip"
  case sample = "keyfiles/google-sample/sample_diagnosis_key_file.zip"

  var testDescription: String { self == .example ? "server example" : "sample" }
  var url: URL { SharedData.url(rawValue) }
  var file: UnverifiedKeyFile { UnverifiedKeyFile(at: url) }
  var info: SignatureInfo {
    self == .example
      ? SignatureInfo(verificationKeyID: "some_id", verificationKeyVersion: "1")
      : SignatureInfo(verificationKeyID: "310", verificationKeyVersion: "v1")
  }

  /// The file's own public key under any id and version.
  func publicKey(named info: SignatureInfo) throws -> VerificationPublicKey {
    let name =
      self == .example ? "google-server-example/public.pem" : "google-sample/public-310-v1.pem"
    return try VerificationPublicKey(
      keyID: info.verificationKeyID, keyVersion: info.verificationKeyVersion,
      publicKeyPEM: String(contentsOf: SharedData.url("keyfiles/" + name), encoding: .utf8))
  }

  /// Both halves, unzipped.
  func halves() throws -> [ExportPart: [UInt8]] {
    var halves: [ExportPart: [UInt8]] = [:]
    try ZipSource.source(at: url).read { part, chunk in halves[part, default: []] += chunk }
    return halves
  }
}

@Suite("Published key files", .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
struct PublishedKeyFilesTests {
  @Test("The server example has the published content")
  func exampleFacts() throws {
    let facts = try PublishedFile.example.file.inspect()
    #expect(
      facts.exportSHA256.hexadecimal
        == "38edb6fc758d9ba014eb66226a9ee580201de3a985dca5467234c5f41099ad3f")
    #expect((facts.header.start, facts.header.end) == (1_590_159_600, 1_590_246_000))
    #expect(facts.header.region == "US")
    #expect((facts.header.batchNumber, facts.header.batchSize) == (1, 1))
    #expect(facts.header.signatureInfos == [PublishedFile.example.info])
    #expect(facts.signatures == [PublishedFile.example.info])
    #expect((facts.keyCount, facts.revisedKeyCount, facts.keysSkipped) == (2, 0, 0))
    #expect(facts.exportByteCount == 135)
  }

  @Test("The server example's two keys are read field by field")
  func exampleKeys() throws {
    let keys = try verifiedKeys(.example)
    #expect(
      keys.map(\.key.secretBytes.hexadecimal) == [
        "172fc480e598490c34177604339b1543", "2b63053ac483238de176169e861f3dcd",
      ])
    #expect(keys.map(\.key.rollingStart.rawValue) == [2_649_980, 2_649_866])
    #expect(keys.map(\.key.rollingPeriod) == [1, 114])
    #expect(keys.map(\.transmissionRiskLevel) == [8, 1])
    #expect(keys.allSatisfy { $0.reportType == nil && $0.daysSinceOnsetOfSymptoms == nil })
  }

  @Test("The sample has the published content")
  func sampleFacts() throws {
    let facts = try PublishedFile.sample.file.inspect()
    #expect(
      facts.exportSHA256.hexadecimal
        == "1df2d78a603e2f85ca178f2fbd339a587f699bffd9d46a79f61b0448e79fe9f7")
    #expect((facts.header.start, facts.header.end) == (1_593_633_600, 1_593_633_900))
    #expect(facts.header.region == "US")
    #expect((facts.header.batchNumber, facts.header.batchSize) == (1, 1))
    #expect(facts.signatures == [PublishedFile.sample.info])
    #expect((facts.keyCount, facts.revisedKeyCount, facts.keysSkipped) == (140, 0, 0))
    #expect(facts.exportByteCount == 3854)
  }

  @Test("The sample's 140 keys are 10 for each of 14 days, all with the default period")
  func sampleKeys() throws {
    let keys = try verifiedKeys(.sample)
    #expect(Set(keys.map(\.key.secretBytes)).count == 140)
    #expect(keys == keys.sorted(by: DiagnosisKey.inFileOrder))
    #expect(keys.allSatisfy { $0.key.rollingPeriod == 144 })
    let days = Dictionary(grouping: keys, by: \.key.rollingStart.rawValue)
    let starts = (0..<14).map { (day: UInt32) in 2_653_920 + day * 144 }
    #expect(days.keys.sorted() == starts)
    #expect(days.values.allSatisfy { $0.count == 10 })
    let risks = Dictionary(grouping: keys, by: \.transmissionRiskLevel).mapValues(\.count)
    #expect(risks == [3: 28, 4: 56, 5: 14, 6: 14, 7: 14, 8: 14])
    #expect(keys.first?.key.secretBytes.hexadecimal == "0003d60b188f19856e8b3dd29a0c463b")
    #expect(keys.first?.transmissionRiskLevel == 3)
  }

  private func verifiedKeys(_ published: PublishedFile) throws -> [DiagnosisKey] {
    var keys: [DiagnosisKey] = []
    let key = try published.publicKey(named: published.info)
    let verified = try published.file.verified(by: [key], batchSize: 7) { batch in
      #expect(batch.keys.count <= 7 && !batch.areRevised)
      keys += batch.keys
    }
    #expect(verified.facts == (try published.file.inspect()))
    return keys
  }

  @Test("A published file is invalid for the other file's key", arguments: PublishedFile.allCases)
  func otherKey(published: PublishedFile) throws {
    let other = PublishedFile.allCases.first { $0 != published }
    let key = try #require(try other?.publicKey(named: published.info))
    #expect(throws: KeyFileError.signatureMismatch) {
      try published.file.verified(by: [key], batchSize: 100) { _ in }
    }
  }

  @Test(
    "A key with another id or version is not used",
    arguments: [("311", "v1"), ("310", "v2"), ("", "")])
  func otherName(id: String, version: String) throws {
    let info = SignatureInfo(verificationKeyID: id, verificationKeyVersion: version)
    let key = try PublishedFile.sample.publicKey(named: info)
    #expect(throws: KeyFileError.noSignatureByTheseKeys) {
      try PublishedFile.sample.file.verified(by: [key], batchSize: 100) { _ in }
    }
  }

  @Test("A change of any byte of export.bin is rejected", arguments: PublishedFile.allCases)
  func changedByte(published: PublishedFile) throws {
    let halves = try published.halves()
    let export = try #require(halves[.export])
    let key = try published.publicKey(named: published.info)
    let folder = try TemporaryFolder()
    try Data(try #require(halves[.signatures])).write(to: folder.path("export.sig"))
    let url = folder.path("export.bin")
    for position in export.indices {
      var changed = export
      changed[position] ^= UInt8(1) << (position % 8)
      try Data(changed).write(to: url)
      let error = #expect(throws: KeyFileError.self) {
        try UnverifiedKeyFile(at: url).verified(by: [key], batchSize: 100) { _ in }
      }
      // In the first 16 bytes, the file is no longer an export; elsewhere, the signature is invalid.
      #expect(error == (position < 16 ? .notAKeyFile : .signatureMismatch))
    }
    try Data(export).write(to: url)
    #expect(throws: Never.self) {
      try UnverifiedKeyFile(at: url).verified(by: [key], batchSize: 100) { _ in }
    }
  }

  @Test("A zip truncated at any byte is rejected", arguments: PublishedFile.allCases)
  func cut(published: PublishedFile) throws {
    let zip = [UInt8](try Data(contentsOf: published.url))
    let key = try published.publicKey(named: published.info)
    for length in zip.indices {
      #expect(throws: KeyFileError.self) {
        try onDisk(Array(zip.prefix(length))) {
          try $0.verified(by: [key], batchSize: 100) { _ in }
        }
      }
    }
  }

  @Test("A zip with any bit inverted is rejected or has the same content")
  func turned() throws {
    let zip = [UInt8](try Data(contentsOf: PublishedFile.example.url))
    let facts = try PublishedFile.example.file.inspect()
    let key = try PublishedFile.example.publicKey(named: PublishedFile.example.info)
    for position in zip.indices {
      for bit in 0..<8 {
        var turned = zip
        turned[position] ^= 1 << bit
        let read = try? onDisk(turned) { try $0.verified(by: [key], batchSize: 100) { _ in } }
        #expect(read == nil || read?.facts.exportSHA256 == facts.exportSHA256)
      }
    }
  }

  @Test("A file with the signatures of another file is rejected")
  func swapped() throws {
    let (example, sample) = (
      try PublishedFile.example.halves(), try PublishedFile.sample.halves()
    )
    let zip = RawZip(entries: [
      .init(name: "export.bin", content: try #require(example[.export])),
      .init(name: "export.sig", content: try #require(sample[.signatures])),
    ])
    let keys = try PublishedFile.allCases.map { try $0.publicKey(named: $0.info) }
    #expect(throws: KeyFileError.signatureMismatch) {
      try onDisk(zip.bytes) { try $0.verified(by: keys, batchSize: 100) { _ in } }
    }
  }
}
