// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Testing

@Suite("Interval number")
struct IntervalNumberTests {
  @Test(
    "An interval begins on its first second and ends before the next",
    arguments: [
      (0.0, UInt32(0)), (599.999, 0), (600, 1), (1_585_785_600, 2_642_976),
      (1_585_786_199, 2_642_976), (1_585_786_200, 2_642_977),
    ])
  func edges(seconds: Double, number: UInt32) {
    #expect(IntervalNumber(Date(timeIntervalSince1970: seconds))?.rawValue == number)
  }

  @Test("Dates before 1970 or beyond 32 bits have no interval")
  func outside() {
    let last = Double(UInt32.max) * 600
    #expect(IntervalNumber(Date(timeIntervalSince1970: -1)) == nil)
    #expect(IntervalNumber(Date(timeIntervalSince1970: last))?.rawValue == .max)
    #expect(IntervalNumber(Date(timeIntervalSince1970: last + 600)) == nil)
    #expect(IntervalNumber(.distantPast) == nil)
    #expect(IntervalNumber(.distantFuture) != nil)
  }

  @Test("Steps beyond the last interval are rejected, not wrapped")
  func advance() {
    #expect(IntervalNumber(rawValue: .max - 1).advanced(by: 1)?.rawValue == .max)
    #expect(IntervalNumber(rawValue: .max).advanced(by: 1) == nil)
  }

  @Test("The distance is symmetric, up to the full range")
  func distance() {
    let (first, last) = (IntervalNumber(rawValue: 0), IntervalNumber(rawValue: .max))
    #expect(first.distance(to: last) == .max)
    #expect(last.distance(to: first) == .max)
    #expect(first.distance(to: first) == 0)
  }

  @Test(
    "A day begins at midnight UTC",
    arguments: [
      (UInt32(143), UInt32(0)), (144, 144), (145, 144), (2_642_976, 2_642_976),
    ])
  func day(number: UInt32, start: UInt32) {
    #expect(IntervalNumber(rawValue: number).startOfDay.rawValue == start)
  }
}
