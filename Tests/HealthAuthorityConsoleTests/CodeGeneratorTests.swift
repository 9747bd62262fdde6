// SPDX-License-Identifier: Apache-2.0
import Crypto
import _CryptoExtras
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

/// One-time codes and password hashes, with the vectors of their specifications.
@Suite struct CodeGeneratorTests {
  @Test(
    "Codes are those of RFC 6238",
    arguments: [
      (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"),
      (1_234_567_890, "89005924"), (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
    ] as [(Int64, String)])
  func vectors(time: Int64, code: String) {
    let generator = CodeGenerator(secret: Data("12345678901234567890".utf8))
    #expect(generator.code(step: CodeGenerator.step(at: time), digits: 8) == code)
  }

  @Test("A code is accepted one step early or late, and not twice")
  func window() {
    let generator = CodeGenerator(randomness: TestRandomness())
    let now: Int64 = 1_800_000_000
    let step = CodeGenerator.step(at: now)
    for off in -1...1 as ClosedRange<Int64> {
      let code = generator.code(step: step + off)
      #expect(generator.step(of: code, at: now, after: 0, stepsOff: 1) == step + off)
      #expect(generator.step(of: code, at: now, after: step + off, stepsOff: 1) == nil)
    }
    for off in [-2, 2] as [Int64] {
      let code = generator.code(step: step + off)
      #expect(generator.step(of: code, at: now, after: 0, stepsOff: 1) == nil)
    }
    #expect(generator.step(of: "", at: now, after: 0, stepsOff: 1) == nil)
  }

  @Test(
    "Base32 is that of RFC 4648",
    arguments: [
      ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
      ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
    ])
  func base32(text: String, expected: String) {
    #expect(CodeGenerator.base32(text.utf8) == expected)
  }

  @Test("A typed secret may have spaces and lower-case letters, and must be complete")
  func typed() {
    let secret = "gezd gnbv gy3t qojq gezd gnbv gy3t qojq"
    #expect(CodeGenerator(typed: secret)?.secret == Data("12345678901234567890".utf8))
    for text in ["", "A", String(secret.dropLast()), secret + "A", "1" + secret.dropFirst()] {
      #expect(CodeGenerator(typed: text) == nil, "\(text)")
    }
  }

  @Test("The address names account, issuer and secret")
  func address() {
    let generator = CodeGenerator(secret: Data("12345678901234567890".utf8))
    #expect(
      generator.address(account: "anna k", issuer: "Firebreak")
        == "otpauth://totp/Firebreak:anna%20k?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        + "&issuer=Firebreak")
  }

  @Test("scrypt is that of RFC 7914")
  func scrypt() throws {
    let key = try KDF.Scrypt.deriveKey(
      from: Data("password".utf8), salt: Data("NaCl".utf8), outputByteCount: 64, rounds: 1_024,
      blockSize: 8, parallelism: 16)
    #expect(
      key.withUnsafeBytes { Data($0) }.hexadecimal.hasPrefix(
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"))
  }

  @Test("A password matches its own hash only, however it was composed")
  func password() throws {
    let randomness = TestRandomness()
    let hash = try PasswordHash(of: "zażółć gęślą", costLog: 4, randomness: randomness)
    let stored = PasswordHash(text: hash.text)
    #expect(try stored.matches("zażółć gęślą".decomposedStringWithCanonicalMapping))
    #expect(try !stored.matches("zażółć gęśla"))
    #expect(try !stored.matches(""))
    let other = try PasswordHash(of: "zażółć gęślą", costLog: 4, randomness: randomness)
    #expect(hash.text != other.text)
    #expect("\(hash)" == "PasswordHash")
  }

  @Test(
    "A damaged hash matches nothing", arguments: ["", "scrypt$4$$", "scrypt$99$YQ==$YQ==", "a$b"])
  func damaged(text: String) throws {
    #expect(try !PasswordHash(text: text).matches("a"))
  }
}
