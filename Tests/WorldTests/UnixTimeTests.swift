// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import World

@Suite("Unix time")
struct UnixTimeTests {
  @Test(
    "A date has the second, millisecond and day that contain it",
    arguments: [
      (0, 0, 0, 0), (0.9995, 0, 999, 0),
      (1_600_000_000.25, 1_600_000_000, 1_600_000_000_250, 18_518),
      (86_399.5, 86_399, 86_399_500, 0), (86_400, 86_400, 86_400_000, 1), (-0.5, -1, -500, -1),
      (-86_400, -86_400, -86_400_000, -1), (-86_400.25, -86_401, -86_400_250, -2),
    ] as [(Double, Int64, Int64, Int)])
  func rounding(_ seconds: Double, _ second: Int64, _ millisecond: Int64, _ day: Int) {
    let date = Date(timeIntervalSince1970: seconds)
    #expect(date.unixSecond == second)
    #expect(date.unixMillisecond == millisecond)
    #expect(date.unixDay == day)
  }

  @Test(
    "A second, millisecond and day begin at the date with their number",
    arguments: [-100_000, -1, 0, 1, 18_518, 1_600_000_000, 253_402_300_799] as [Int64])
  func starts(_ number: Int64) {
    #expect(Date(unixSecond: number).unixSecond == number)
    #expect(Date(unixMillisecond: number).unixMillisecond == number)
    #expect(Date(unixSecond: number).timeIntervalSince1970 == Double(number))
    #expect(Date(unixMillisecond: number * 1_000) == Date(unixSecond: number))
    let day = number % 100_000
    #expect(Date(unixDay: day).unixDay == Int(day))
    #expect(Date(unixDay: day).unixSecond == day * 86_400)
  }

  @Test("A date beyond the numbers has the nearest one")
  func beyond() {
    for (seconds, nearest) in [(1e30, Int64.max), (-1e30, .min), (.infinity, .max)] {
      #expect(Date(timeIntervalSince1970: seconds).unixSecond == nearest)
      #expect(Date(timeIntervalSince1970: seconds).unixMillisecond == nearest)
    }
  }
}
