import ExposureKeys
import KeyServerAPI
import TestSupport
import Testing

@Suite("Rules for keys beside each other")
struct UploadRulesTests {
  /// The rules word for word: each key beside each other.
  private static func breach(of keys: [TemporaryExposureKey]) -> UploadBreach? {
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

  @Test("Whatever keys come together, the first rule that they break is found")
  func everyRule() throws {
    var chance = SeededGenerator(seed: 20_261_122)
    var found: [UploadBreach?: Int] = [:]
    for _ in 0..<4_000 {
      let spread = UInt32.random(in: 1...40, using: &chance)
      let keys = try (0..<Int.random(in: 0...8, using: &chance)).map { _ in
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes[Bool.random(using: &chance) ? 0 : 15] = .random(in: 0...200, using: &chance)
        let start = UInt32.random(in: 0...spread, using: &chance) * 72
        return try #require(
          TemporaryExposureKey(
            bytes: bytes, rollingStart: IntervalNumber(rawValue: start),
            rollingPeriod: [1, 71, 72, 73, 144].randomElement(using: &chance) ?? 1))
      }
      let wanted = Self.breach(of: keys)
      #expect(UploadLimit.breachTogether(of: keys) == wanted)
      found[wanted, default: 0] += 1
    }
    for breach in [nil, UploadBreach.keysWithOneStart, .repeatedKey, .overlap] {
      #expect(found[breach, default: 0] > 50)
    }
  }
}
