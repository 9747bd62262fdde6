import Foundation
import World

/// When keys begin and end.
enum SigningKeyTimes {
  /// Moments that a key may begin at, in Unix seconds: until 2286, as file names have ten digits.
  static let seconds: ClosedRange<Int64> = 0...9_999_999_999
  /// How long keys may overlap, in seconds: up to ten years.
  static let overlaps = 0...315_360_000

  /// The moment, or now.
  static func date(_ seconds: Int64?) -> Date {
    seconds.map { Date(timeIntervalSince1970: Double($0)) } ?? SystemClock().now
  }
}
