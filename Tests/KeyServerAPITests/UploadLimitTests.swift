import Foundation
import KeyServerAPI
import Testing

@Suite("Seed 2.2 and 4: limits of an upload")
struct UploadLimitTests {
  private let now = Date(timeIntervalSince1970: 1_600_000_200)
  private var current: UInt32 { UInt32(1_600_000_200 / 600) }

  /// `count` keys of whole days, the newest ended today.
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
    "1 to 30 keys are taken, none and 31 are not",
    arguments: [(0, UploadBreach.keyCount), (1, nil), (30, nil), (31, .keyCount)])
  func keyCount(count: Int, breach: UploadBreach?) {
    #expect(UploadLimit.breach(of: keys(count), at: now) == breach)
  }

  @Test("Three keys may share a start, four may not")
  func keysWithOneStart() {
    let four = (0..<4).map { key(start: current - 144, byte: UInt8($0)) }
    #expect(UploadLimit.breach(of: Array(four.prefix(2)), at: now) == nil)
    #expect(UploadLimit.breach(of: Array(four.prefix(3)), at: now) == nil)
    #expect(UploadLimit.breach(of: four, at: now) == .keysWithOneStart)
  }

  @Test("A key is 16 bytes", arguments: [(15, UploadBreach.keyBytes), (16, nil), (17, .keyBytes)])
  func keyBytes(count: Int, breach: UploadBreach?) {
    let key = key(start: current - 144, count: count)
    #expect(UploadLimit.breach(of: [key], at: now) == breach)
  }

  @Test("A key's text is base64")
  func keyText() {
    let key = UploadKey(key: "not base64!", rollingStartNumber: current - 144)
    #expect(UploadLimit.breach(of: [key], at: now) == .keyBytes)
  }

  @Test(
    "A rolling period is 1 to 144",
    arguments: [(0, UploadBreach.rollingPeriod), (1, nil), (144, nil), (145, .rollingPeriod)]
      as [(UInt32, UploadBreach?)])
  func rollingPeriod(period: UInt32, breach: UploadBreach?) {
    let key = key(start: current - 144, period: period)
    #expect(UploadLimit.breach(of: [key], at: now) == breach)
  }

  @Test(
    "A risk is 0 to 8 or absent",
    arguments: [
      (nil, nil), (-1, UploadBreach.transmissionRisk), (0, nil), (8, nil), (9, .transmissionRisk),
    ] as [(Int?, UploadBreach?)])
  func transmissionRisk(risk: Int?, breach: UploadBreach?) {
    #expect(UploadLimit.breach(of: [key(start: current - 144, risk: risk)], at: now) == breach)
  }

  @Test("A key may start now but not later")
  func future() {
    #expect(UploadLimit.breach(of: [key(start: current - 1)], at: now) == nil)
    #expect(UploadLimit.breach(of: [key(start: current)], at: now) == nil)
    #expect(UploadLimit.breach(of: [key(start: current + 1)], at: now) == .future)
    #expect(UploadLimit.breach(of: [key(start: .max)], at: now) == .future)
  }

  @Test("A key may have ended 15 days ago but not earlier")
  func age() {
    let oldestEnd = current - 15 * 144
    #expect(UploadLimit.breach(of: [key(start: oldestEnd + 1 - 144)], at: now) == nil)
    #expect(UploadLimit.breach(of: [key(start: oldestEnd - 144)], at: now) == nil)
    #expect(UploadLimit.breach(of: [key(start: oldestEnd - 1 - 144)], at: now) == .age)
  }

  @Test("Keys may touch and may share a start, but not overlap otherwise")
  func overlap() {
    let start = current - 1_000
    let first = key(start: start, byte: 1)
    let touching = key(start: start + 144, byte: 2)
    let overlapping = key(start: start + 143, byte: 3)
    let cut = key(start: start, period: 20, byte: 4)
    #expect(UploadLimit.breach(of: [touching, first], at: now) == nil)
    #expect(UploadLimit.breach(of: [first, cut, touching], at: now) == nil)
    #expect(UploadLimit.breach(of: [overlapping, first], at: now) == .overlap)
    #expect(UploadLimit.breach(of: [cut, first, overlapping], at: now) == .overlap)
  }

  @Test("The same key twice is refused")
  func repeated() {
    let first = key(start: current - 288, byte: 1)
    let again = key(start: current - 144, byte: 1)
    #expect(UploadLimit.breach(of: [first, again], at: now) == .repeatedKey)
    // The last character of the base64 of 16 bytes holds four bits that say nothing.
    var other = again
    other.key = String(first.key.dropLast(3)) + "R=="
    #expect(Data(base64Encoded: other.key) == Data(base64Encoded: first.key))
    #expect(UploadLimit.breach(of: [first, other], at: now) == .repeatedKey)
  }

  @Test("Every rule has a sentence")
  func sentences() {
    for breach in UploadBreach.allCases { #expect(breach.description.hasSuffix(".")) }
  }
}
