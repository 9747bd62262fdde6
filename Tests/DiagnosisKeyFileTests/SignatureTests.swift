// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import DiagnosisKeyFile

@Suite("Signatures")
struct SignatureTests {
  private let poland = Authority(keyID: "260", keyVersion: "v1")
  private let other = Authority(keyID: "260", keyVersion: "v2")

  private func refusal(_ file: RawKeyFile, by keys: [Authority]) -> KeyFileError? {
    #expect(throws: KeyFileError.self) { try verify(file.zip.bytes, by: keys) }
  }

  @Test("A file with two signatures is valid for a phone that knows either key, or both")
  func rotation() throws {
    let file = try RawKeyFile([poland, other])
    for keys in [[poland], [other], [poland, other]] {
      let verified = try verify(file.zip.bytes, by: keys)
      #expect(keys.map(\.keyVersion).contains(verified.signer.keyVersion))
    }
  }

  @Test("A file signed by another key of the same name is rejected")
  func impostor() throws {
    let impostor = Authority(keyID: "260", keyVersion: "v1")
    #expect(refusal(try RawKeyFile([impostor]), by: [poland]) == .signatureMismatch)
    #expect(refusal(try RawKeyFile([poland]), by: []) == .noSignatureByTheseKeys)
  }

  @Test("A single signature may omit its id, one of two may not")
  func anonymous() throws {
    let single = try RawKeyFile(
      [poland],
      changeSignatures: {
        $0.signatures[0].signatureInfo.clearVerificationKeyID()
      })
    #expect(throws: Never.self) { try verify(single.zip.bytes, by: [poland]) }
    #expect(refusal(single, by: [other]) == .noSignatureByTheseKeys)
    let two = try RawKeyFile(
      [poland, other],
      changeSignatures: {
        $0.signatures[0].signatureInfo.clearVerificationKeyID()
      })
    #expect(refusal(two, by: [poland]) == .noSignatureByTheseKeys)
  }

  @Test(
    "Only ECDSA with SHA-256 is accepted",
    arguments: [
      ("1.2.840.10045.4.3.2", true), ("SHA256withECDSA", true), ("1.2.840.10045.4.3.4", false),
      ("ecdsa-with-SHA256", false), ("none", false), ("", false),
    ])
  func algorithm(name: String, isValid: Bool) throws {
    let file = try RawKeyFile(
      [poland],
      changeSignatures: {
        $0.signatures[0].signatureInfo.signatureAlgorithm = name
      })
    if isValid {
      #expect(throws: Never.self) { try verify(file.zip.bytes, by: [poland]) }
    } else {
      #expect(refusal(file, by: [poland]) == .unsupportedAlgorithm)
    }
  }

  @Test(
    "Tools accept names of ECDSA with SHA-256, and show them as they are written",
    arguments: [
      ("1.2.840.10045.4.3.2", true), ("SHA256withECDSA", true), ("ecdsa-with-SHA256", true),
      ("ECDSA-with-SHA256", true), ("ecdsaWithSHA256", true), ("ecdsa-with-SHA384", false),
      ("SHA1withECDSA", false), ("SHA256withRSA", false), ("", false),
    ])
  func publishedAlgorithm(name: String, isValid: Bool) throws {
    let file = try RawKeyFile(
      [poland],
      change: { $0.signatureInfos[0].signatureAlgorithm = name },
      changeSignatures: { $0.signatures[0].signatureInfo.signatureAlgorithm = name })
    if isValid {
      let verified = try verify(file.zip.bytes, by: [poland], accepting: .published)
      #expect(verified.facts.signatures.map(\.signatureAlgorithm) == [name])
      #expect(verified.header.signatureInfos.map(\.signatureAlgorithm) == [name])
    } else {
      #expect(throws: KeyFileError.unsupportedAlgorithm) {
        try verify(file.zip.bytes, by: [poland], accepting: .published)
      }
    }
  }

  @Test("An empty list of signatures is unsigned, and can still be inspected")
  func unsigned() throws {
    let file = try RawKeyFile([poland], changeSignatures: { $0.signatures = [] })
    #expect(refusal(file, by: [poland]) == .unsigned)
    #expect(try onDisk(file.zip.bytes) { try $0.inspect() }.signatures.isEmpty)
  }

  @Test("Ten signatures are read, eleven are rejected", arguments: [9, 10, 11])
  func count(count: Int) throws {
    let authorities = (1...count).map { Authority(keyVersion: "v\($0)") }
    let file = try RawKeyFile(authorities)
    if count <= KeyFileLimit.signatureCountMax {
      #expect(throws: Never.self) { try verify(file.zip.bytes, by: [authorities[count - 1]]) }
    } else {
      #expect(refusal(file, by: authorities) == .tooManySignatures)
    }
  }

  @Test("The export must announce as many signatures as there are")
  func announced() throws {
    let file = try RawKeyFile([poland, other]) { $0.signatureInfos.removeLast() }
    #expect(refusal(file, by: [poland]) == .signatureCountMismatch)
  }

  @Test(
    "Batch numbers must be 1 to the size, and equal in both halves",
    arguments: [
      (Int32(0), Int32(1)), (2, 1), (-1, 1), (0, 0), (1, 2),
    ])
  func batch(number: Int32, size: Int32) throws {
    // 1 of 2 is valid by itself, but the signatures have 1 of 1.
    let file = try RawKeyFile([poland]) {
      $0.batchNum = number
      $0.batchSize = size
    }
    #expect(refusal(file, by: [poland]) == .wrongBatchNumbers)
  }

  @Test("Malformed signatures are rejected")
  func malformed() throws {
    var file = try RawKeyFile([poland])
    file.signatures = Array(file.signatures.dropLast())
    #expect(refusal(file, by: [poland]) == .malformedSignatures)
  }

  @Test(
    "Only P-256 in PEM is read as a key",
    arguments: ["", "not a key", "-----BEGIN PUBLIC KEY-----"])
  func notPEM(text: String) {
    #expect(throws: KeyFileError.notAPublicKey) {
      try VerificationPublicKey(keyID: "1", keyVersion: "1", publicKeyPEM: text)
    }
    #expect(throws: KeyFileError.notAPrivateKey) {
      try KeyFileSigner(privateKeyPEM: text, keyID: "1", keyVersion: "1")
    }
  }

  @Test("A signer prints only its type")
  func redacted() throws {
    let signer = try poland.signer()
    var dumped = ""
    dump(signer, to: &dumped)
    #expect("\(signer)" == "KeyFileSigner")
    #expect(!dumped.contains("privateKey"))
  }
}
