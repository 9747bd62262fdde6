import Foundation

/// How every period that ends at one moment is to be closed, all of them in one transaction: padding
/// that one export needs is in the file of every other that its shape belongs to, from the first day.
struct ClosingPlan: Sendable {
  /// When the periods end; keys released before go in.
  let end: Date
  let periods: [Period]
  /// Draws the bytes of one padding key.
  let keyBytes: @Sendable () -> [UInt8]

  /// One export's period.
  struct Period: Sendable {
    let export: ExportConfiguration
    let start: Date
    /// How many keys there are to be at least, where there is one at all.
    let minimumKeys: Int
  }
}

extension ClosingPlan {
  /// How many files `count` keys need, and which key each later one begins with, as even as can be.
  static func cuts(of count: Int, atMost maximum: Int) -> [Int] {
    let files = (count + maximum - 1) / maximum
    return (0..<max(1, files)).dropFirst().map { count * $0 / files }
  }
}
