import Foundation

extension Date {
  /// The whole second that a column keeps.
  var unixSecond: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }

  /// The moment that a column kept.
  init(unixSecond: Int64) {
    self.init(timeIntervalSince1970: TimeInterval(unixSecond))
  }
}
