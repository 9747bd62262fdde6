// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import Crypto
import _CryptoExtras
import Foundation
import TestSupport
import Testing
import TextEncodings

@Suite("Every tier agrees with swift-crypto")
struct OracleTests {
  @Test("The fastest tier is available, and a tier that this machine lacks is not")
  func availability() {
    #expect(ek_tier_is_available(EK_TIER_PORTABLE))
    #expect(ek_tier_is_available(ek_fastest_tier()))
    #expect(!ek_tier_is_available(ek_tier(rawValue: 99)))
    #if arch(x86_64)
      #expect(!ek_tier_is_available(EK_TIER_ARM64))
    #endif
  }

  @Test("An available tier uses its own kernels", arguments: Kernels.available)
  func own(_ kernels: Kernels) {
    // The only result that differs between tiers: the portable tier's value would mean a fallback.
    let isOwn = ek_reverse_break_even(kernels.tier) != ek_reverse_break_even(EK_TIER_PORTABLE)
    #expect(isOwn == (kernels.tier != EK_TIER_PORTABLE))
  }

  @Test("Random keys have swift-crypto's identifier keys", arguments: Kernels.available)
  func identifierKeys(_ kernels: Kernels) {
    var chance = SeededGenerator(seed: 1)
    let keys = PublishedKey.random(150, from: &chance).map(\.bytes)
    #expect(kernels.identifierKeys(of: keys) == keys.map(Oracle.identifierKey))
  }

  @Test(
    "Any number of keys is derived, and nothing is written after them", arguments: Kernels.available
  )
  func counts(_ kernels: Kernels) {
    var chance = SeededGenerator(seed: 2)
    let keys = PublishedKey.random(70, from: &chance).map(\.bytes)
    let expected = keys.map(Oracle.identifierKey)
    for count in 0...70 {
      var derived = [UInt8](repeating: 0xee, count: 16 * 71)
      ek_identifier_keys(kernels.tier, Array(keys[..<count].joined()), count, &derived)
      #expect(Array(derived[..<(16 * count)]) == Array(expected[..<count].joined()))
      #expect(derived[(16 * count)...].allSatisfy { $0 == 0xee })
    }
  }

  @Test(
    "Identifiers are swift-crypto's for any first interval and count, also after a wraparound",
    arguments: Kernels.available)
  func identifiers(_ kernels: Kernels) throws {
    var chance = SeededGenerator(seed: 3)
    for (first, count) in [
      (0, 1), (2_642_976, 0), (2_642_976, 143), (2_642_977, 144), (UInt32.max - 10, 23),
    ] {
      let key = PublishedKey.bytes(16, from: &chance)
      let expected = try (0..<UInt32(count)).map {
        try Oracle.identifier(of: key, at: first &+ $0)
      }
      #expect(kernels.identifiers(of: key, first: first, count: count) == expected)
    }
  }

  @Test(
    "Through a filter that holds everything, all identifiers of keys with any start and period pass",
    arguments: Kernels.available)
  func everything(_ kernels: Kernels) throws {
    var chance = SeededGenerator(seed: 4)
    let whole = PublishedKey.random(17, from: &chance, length: 144...144)
    let mixed = PublishedKey.random(30, from: &chance)
    let short = PublishedKey.random(19, from: &chance, length: 0...3)
    let wrapping = PublishedKey(
      bytes: PublishedKey.bytes(16, from: &chance), first: .max - 5, length: 20)
    let keys = whole + mixed + short + [wrapping]
    let found = kernels.forward(keys, .full())
    let expected = try Oracle.candidates(of: keys)
    #expect(found.count == expected.count)
    #expect(Set(found) == expected)
  }

  @Test("The constant in the arm64 tests is swift-crypto's result")
  func arm64() throws {
    var chance = SeededGenerator(seed: 4)
    let keys = (0..<70).map { _ in
      (0..<16).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
    }
    var fold: UInt64 = 0
    for key in keys.map(Oracle.identifierKey) {
      for interval in 9..<153 {
        let identifier = try Oracle.identifier(of: key, at: UInt32(interval))
        var word: UInt64 = 0
        for byte in identifier[..<8].reversed() { word = word << 8 | UInt64(byte) }
        fold ^= word
      }
    }
    let header = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("KernelsOnArm64/oracle.h")
    let text = try String(contentsOf: header, encoding: .utf8)
    #expect(text.contains("oracle_fold = 0x\(String(fold, radix: 16));"))
  }

  @Test(
    "The bare stages of the benchmark have the kernels' results", arguments: Kernels.available)
  func bareStages(_ kernels: Kernels) throws {
    var chance = SeededGenerator(seed: 5)
    let keys = PublishedKey.random(Int(EK_BARE_BATCH) + 21, from: &chance).map(\.bytes)
    let expected = keys.map(Oracle.identifierKey)
    var derived = [UInt8](repeating: 0, count: Int(EK_BARE_BATCH) * 16)
    ek_bare_schedule(kernels.tier, Array(keys.joined()), keys.count, &derived)
    #expect(Array(derived[..<(21 * 16)]) == Array(expected[Int(EK_BARE_BATCH)...].joined()))
    #expect(Array(derived[(21 * 16)...]) == Array(expected[21..<Int(EK_BARE_BATCH)].joined()))
    let some = Array(expected[..<21])
    let all = some.flatMap { Kernels.portable.identifiers(of: $0, first: 9, count: 144) }
    let fold = all.map { $0[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
      .reduce(0, ^)
    #expect(ek_bare_blocks(kernels.tier, Array(some.joined()), 9, some.count) == fold)
    let filter = Filter(wordsLog2: 12, holding: Array(all[..<700]), secret: (77, 0xabcd_1234_5679))
    for count in [0, 1, 15, 16, 17, all.count] {
      let held = withUnsafePointer(to: filter.filter) {
        ek_bare_probe(kernels.tier, $0, Array(all.joined()), count)
      }
      #expect(held == all[..<count].count(where: filter.mayHold))
    }
  }
}

/// The specification, implemented with swift-crypto.
enum Oracle {
  /// HKDF-SHA256 without salt, "EN-RPIK", 16 bytes.
  static func identifierKey(of key: [UInt8]) -> [UInt8] {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: key), info: Data("EN-RPIK".utf8), outputByteCount: 16
    ).withUnsafeBytes { Array($0) }
  }

  /// AES-128 of "EN-RPI", six zeros and the interval.
  static func identifier(of identifierKey: [UInt8], at interval: UInt32) throws -> [UInt8] {
    var block = Array("EN-RPI".utf8) + [UInt8](repeating: 0, count: 6)
    withUnsafeBytes(of: interval.littleEndian) { block += $0 }
    try AES.permute(&block, key: SymmetricKey(data: identifierKey))
    return block
  }

  /// All identifiers of a key, as a filter that holds everything passes them.
  static func candidates(of keys: [PublishedKey]) throws -> Set<Candidate> {
    var all: Set<Candidate> = []
    for (index, key) in keys.enumerated() {
      let identifierKey = identifierKey(of: key.bytes)
      for offset in 0..<UInt32(key.length) {
        let interval = key.first &+ offset
        all.insert(
          Candidate(
            key: index, interval: interval,
            identifier: try identifier(of: identifierKey, at: interval)))
      }
    }
    return all
  }
}

@Suite("Every tier derives the published identifiers")
struct VectorTests {
  /// The key of the specification's test vectors, and its identifiers.
  private struct Vectors: Decodable {
    let tek: String
    let rpik: String
    let rpi: [String]
    let rolling_start_interval_number: UInt32

    static func read() throws -> Vectors {
      try JSONDecoder().decode(
        Vectors.self, from: Data(contentsOf: SharedData.url("vectors/gaen_crypto_vectors.json")))
    }
  }

  private func bytes(_ hex: String) -> [UInt8] { [UInt8](hexadecimal: hex) ?? [] }

  @Test(
    "The specification's key has the specification's identifiers",
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absence)),
    arguments: Kernels.available)
  func specification(_ kernels: Kernels) throws {
    let vectors = try Vectors.read()
    #expect(kernels.identifierKeys(of: [bytes(vectors.tek)]) == [bytes(vectors.rpik)])
    let derived = kernels.identifiers(
      of: bytes(vectors.rpik), first: vectors.rolling_start_interval_number, count: 144)
    #expect(vectors.rpi.count == 144)
    #expect(derived == vectors.rpi.map(bytes))
  }

  @Test(
    "The specification's identifiers are found in both directions",
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absence)),
    arguments: Kernels.available)
  func matched(_ kernels: Kernels) throws {
    let vectors = try Vectors.read()
    let key = PublishedKey(
      bytes: bytes(vectors.tek), first: vectors.rolling_start_interval_number, length: 144)
    let received = [7, 100, 143].map { bytes(vectors.rpi[$0]) }
    let expected = [7, 100, 143].map {
      Candidate(
        key: 0, interval: key.first + UInt32($0), identifier: bytes(vectors.rpi[$0]))
    }
    #expect(kernels.reverse([key], received: received) == expected)
    let filter = Filter(wordsLog2: 14, holding: received)
    #expect(Set(kernels.forward([key], filter)).isSuperset(of: expected))
  }
}
