import Foundation
import VerificationAPI

/// The numbers of codes that were issued and used on one day in UTC.
struct CodeCounts: Codable, Hashable, Sendable {
  /// The day, counted from 1970.
  let day: Int64
  private(set) var issued = 0
  /// The codes that were exchanged for a token.
  private(set) var claimed = 0
  /// The verification tokens that were exchanged for a certificate.
  private(set) var tokensClaimed = 0
  /// Used codes by the time since they were issued: one bucket for each of `ages`, and one for longer times.
  private(set) var claimAges: [Int]
  /// The sum of these times, in seconds.
  private(set) var claimSeconds: Int64 = 0

  /// The upper bounds of the buckets of `claimAges`, in seconds.
  static let ages: [Int64] = [
    60, 300, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
  ]

  private static let daySeconds: Int64 = 86_400

  /// No codes on `day`.
  init(day: Int64) {
    self.day = day
    claimAges = Array(repeating: 0, count: Self.ages.count + 1)
  }

  /// The number of the day of a Unix second.
  static func day(of unixSecond: Int64) -> Int64 { unixSecond / daySeconds }

  mutating func countIssued(_ count: Int) { issued = max(0, issued + count) }

  mutating func countClaimed(after seconds: Int64) {
    claimed += 1
    let age = max(0, seconds)
    claimSeconds += age
    claimAges[Self.ages.firstIndex { age <= $0 } ?? Self.ages.count] += 1
  }

  mutating func countTokenClaimed() { tokensClaimed += 1 }

  /// The counts in the form of the contract.
  var statistics: CodeStatisticsResponse.Day {
    CodeStatisticsResponse.Day(
      date: CalendarDay(number: Int(day)).text,
      data: CodeStatisticsResponse.Counts(
        codesIssued: issued, codesClaimed: claimed, tokensClaimed: tokensClaimed,
        claimAges: claimAges, claimMeanSeconds: claimed == 0 ? 0 : claimSeconds / Int64(claimed)))
  }
}
