// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@Suite("Upload limits")
struct UploadLimitTests {
  private let now = Date(timeIntervalSince1970: 1_600_000_200)
  private var current: UInt32 { UInt32(1_600_000_200 / 600) }

  /// `count` keys of whole days, of which the newest ended today.
  private func keys(_ count: Int) -> [UploadKey] {
    (0..<count).map { number in
      key(start: current - 144 - UInt32(number % 15) * 144, byte: UInt8(number))
    }
  }

  private func key(
    start: UInt32, period: UInt32 = 144, byte: UInt8 = 0, count: Int = 16, risk: Int? = 8
  ) -> UploadKey {
    UploadKey(
      key: Data(repeating: byte, count: count).base64EncodedString(), rollingPeriod: period,
      rollingStartNumber: start, transmissionRisk: risk)
  }

  @Test(
    "An upload must have 1 to 30 keys",
    arguments: [(0, UploadViolation.keyCount), (1, nil), (30, nil), (31, .keyCount)])
  func keyCount(count: Int, violation: UploadViolation?) {
    #expect(UploadLimit.violation(of: keys(count), at: now) == violation)
  }

  @Test("Three keys may have the same start, four may not")
  func keysWithOneStart() {
    let four = (0..<4).map { key(start: current - 144, byte: UInt8($0)) }
    #expect(UploadLimit.violation(of: Array(four.prefix(2)), at: now) == nil)
    #expect(UploadLimit.violation(of: Array(four.prefix(3)), at: now) == nil)
    #expect(UploadLimit.violation(of: four, at: now) == .keysWithOneStart)
  }

  @Test(
    "A key must have 16 bytes",
    arguments: [(15, UploadViolation.keyBytes), (16, nil), (17, .keyBytes)])
  func keyBytes(count: Int, violation: UploadViolation?) {
    let key = key(start: current - 144, count: count)
    #expect(UploadLimit.violation(of: [key], at: now) == violation)
  }

  @Test("A key must be base64")
  func keyText() {
    let key = UploadKey(key: "not base64!", rollingStartNumber: current - 144)
    #expect(UploadLimit.violation(of: [key], at: now) == .keyBytes)
  }

  @Test(
    "A rolling period must be 1 to 144",
    arguments: [(0, UploadViolation.rollingPeriod), (1, nil), (144, nil), (145, .rollingPeriod)]
      as [(UInt32, UploadViolation?)])
  func rollingPeriod(period: UInt32, violation: UploadViolation?) {
    let key = key(start: current - 144, period: period)
    #expect(UploadLimit.violation(of: [key], at: now) == violation)
  }

  @Test(
    "A risk level must be 0 to 8 or absent",
    arguments: [
      (nil, nil), (-1, UploadViolation.transmissionRisk), (0, nil), (8, nil),
      (9, .transmissionRisk),
    ] as [(Int?, UploadViolation?)])
  func transmissionRisk(risk: Int?, violation: UploadViolation?) {
    #expect(
      UploadLimit.violation(of: [key(start: current - 144, risk: risk)], at: now) == violation)
  }

  @Test("A key may start now, but not later")
  func future() {
    #expect(UploadLimit.violation(of: [key(start: current - 1)], at: now) == nil)
    #expect(UploadLimit.violation(of: [key(start: current)], at: now) == nil)
    #expect(UploadLimit.violation(of: [key(start: current + 1)], at: now) == .future)
    #expect(UploadLimit.violation(of: [key(start: .max)], at: now) == .future)
  }

  @Test("A key may have ended 15 days ago, but not earlier")
  func age() {
    let oldestEnd = current - 15 * 144
    #expect(UploadLimit.violation(of: [key(start: oldestEnd + 1 - 144)], at: now) == nil)
    #expect(UploadLimit.violation(of: [key(start: oldestEnd - 144)], at: now) == nil)
    #expect(UploadLimit.violation(of: [key(start: oldestEnd - 1 - 144)], at: now) == .age)
  }

  @Test("Keys may be adjacent or have the same start, but not overlap otherwise")
  func overlap() {
    let start = current - 1_000
    let first = key(start: start, byte: 1)
    let touching = key(start: start + 144, byte: 2)
    let overlapping = key(start: start + 143, byte: 3)
    let cut = key(start: start, period: 20, byte: 4)
    #expect(UploadLimit.violation(of: [touching, first], at: now) == nil)
    #expect(UploadLimit.violation(of: [first, cut, touching], at: now) == nil)
    #expect(UploadLimit.violation(of: [overlapping, first], at: now) == .overlap)
    #expect(UploadLimit.violation(of: [cut, first, overlapping], at: now) == .overlap)
  }

  @Test("A repeated key is rejected, also with another base64 text")
  func repeated() {
    let first = key(start: current - 288, byte: 1)
    let again = key(start: current - 144, byte: 1)
    #expect(UploadLimit.violation(of: [first, again], at: now) == .repeatedKey)
    // The last character of the base64 of 16 bytes has four unused bits.
    var other = again
    other.key = String(first.key.dropLast(3)) + "R=="
    #expect(Data(base64Encoded: other.key) == Data(base64Encoded: first.key))
    #expect(UploadLimit.violation(of: [first, other], at: now) == .repeatedKey)
  }

  @Test("Every rule has a message as description")
  func sentences() {
    for violation in UploadViolation.allCases { #expect(violation.description.hasSuffix(".")) }
  }
}

@Suite("Rules for several keys")
struct UploadRulesTests {
  /// The rules as specified, by comparing all pairs.
  private static func violation(of keys: [TemporaryExposureKey]) -> UploadViolation? {
    let starts = keys.map(\.rollingStart)
    if starts.contains(where: { start in starts.count { $0 == start } > 3 }) {
      return .keysWithOneStart
    }
    if Set(keys.map(\.secretBytes)).count < keys.count { return .repeatedKey }
    let pairs = keys.indices.flatMap { left in keys[..<left].map { ($0, keys[left]) } }
    let overlap = pairs.contains { one, other in
      one.rollingStart != other.rollingStart && one.rollingStart < other.rollingEnd
        && other.rollingStart < one.rollingEnd
    }
    return overlap ? .overlap : nil
  }

  @Test("For random keys, the first violated rule is found")
  func everyRule() throws {
    var random = SeededGenerator(seed: 20_261_122)
    var found: [UploadViolation?: Int] = [:]
    for _ in 0..<4_000 {
      let spread = UInt32.random(in: 1...40, using: &random)
      let keys = try (0..<Int.random(in: 0...8, using: &random)).map { _ in
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes[Bool.random(using: &random) ? 0 : 15] = .random(in: 0...200, using: &random)
        let start = UInt32.random(in: 0...spread, using: &random) * 72
        return try #require(
          TemporaryExposureKey(
            bytes: bytes, rollingStart: IntervalNumber(rawValue: start),
            rollingPeriod: [1, 71, 72, 73, 144].randomElement(using: &random) ?? 1))
      }
      let expected = Self.violation(of: keys)
      #expect(UploadLimit.breachTogether(of: keys) == expected)
      found[expected, default: 0] += 1
    }
    for violation in [nil, UploadViolation.keysWithOneStart, .repeatedKey, .overlap] {
      #expect(found[violation, default: 0] > 50)
    }
  }
}
