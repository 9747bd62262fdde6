// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Testing

@Suite("Temporary exposure key")
struct TemporaryExposureKeyTests {
  private let sixteen = [UInt8](repeating: 7, count: 16)

  private func made(start: UInt32 = 1000, period: UInt32 = 144) -> TemporaryExposureKey? {
    TemporaryExposureKey(
      bytes: sixteen, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)
  }

  @Test("A key has exactly 16 bytes", arguments: [0, 15, 16, 17])
  func size(count: Int) {
    let key = TemporaryExposureKey(
      bytes: [UInt8](repeating: 1, count: count), rollingStart: IntervalNumber(rawValue: 0))
    #expect((key != nil) == (count == 16))
  }

  @Test(
    "A rolling period is 1 to 144",
    arguments: [(UInt32(0), false), (1, true), (144, true), (145, false)])
  func period(period: UInt32, isKey: Bool) {
    #expect((made(period: period) != nil) == isKey)
  }

  @Test("A key whose end does not fit in 32 bits is rejected")
  func overflow() {
    #expect(made(start: .max - 144) != nil)
    #expect(made(start: .max - 143) == nil)
  }

  @Test("A key covers its start and not its end")
  func covers() throws {
    let key = try #require(made())
    let served = [999, 1000, 1143, 1144].map { key.covers(IntervalNumber(rawValue: $0)) }
    #expect(served == [false, true, true, false])
  }

  @Test("A key that is released on its own day is shortened, and one that has not begun is dropped")
  func shortened() throws {
    let key = try #require(made())
    #expect(key.shortened(toEndBefore: IntervalNumber(rawValue: 1001))?.rollingPeriod == 1)
    #expect(key.shortened(toEndBefore: IntervalNumber(rawValue: 1000)) == nil)
    #expect(key.shortened(toEndBefore: IntervalNumber(rawValue: 1144)) == key)
  }

  @Test(
    "A risk level of 0 to 8 is accepted, a higher one rejected",
    arguments: [(UInt8(0), true), (8, true), (9, false)])
  func risk(level: UInt8, isKey: Bool) throws {
    let key = try #require(made())
    #expect((DiagnosisKey(key: key, transmissionRiskLevel: level) != nil) == isKey)
  }

  @Test("Keys are ordered by their bytes, the first byte first")
  func order() throws {
    let keys = try [[0, 0xff], [1, 0], [0x80, 0], [0xff, 1]].map { (head: [UInt8]) in
      let bytes = head + [UInt8](repeating: 0, count: 14)
      let key = TemporaryExposureKey(bytes: bytes, rollingStart: IntervalNumber(rawValue: 0))
      return try #require(key.flatMap { DiagnosisKey(key: $0) })
    }
    #expect(keys.reversed().sorted(by: DiagnosisKey.inFileOrder) == keys)
  }
}
