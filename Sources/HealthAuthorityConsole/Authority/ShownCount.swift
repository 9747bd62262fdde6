/// A count for a page: suppressed if it is so small that it could reveal something about a person.
///
/// Zero is shown, because it concerns no person.
enum ShownCount: Hashable, Sendable {
  case exact(Int)
  /// Above zero and below the minimum.
  case few
  /// The server does not count this.
  case unknown

  /// - Parameter least: The smallest count above zero that is shown.
  init(_ count: Int?, least: Int) {
    guard let count else {
      self = .unknown
      return
    }
    self = count > 0 && count < least ? .few : .exact(max(0, count))
  }

  /// The value for a chart, in which suppressed counts are drawn as zero.
  var height: Int {
    if case .exact(let count) = self { count } else { 0 }
  }
}

/// The counts of a day as they are shown.
///
/// Two consecutive counts of the funnel that differ by less than the minimum would reveal the difference, so the second
/// one is suppressed.
struct ShownFunnelDay: Hashable, Sendable {
  let day: Int64
  let issued: ShownCount
  let redeemed: ShownCount
  /// In minutes, rounded up; nil if `redeemed` is not shown.
  let redeemMinutes: Int?
  let uploads: ShownCount
  /// Nil if `uploads` is not shown.
  let uploadTime: MedianTime?
  /// Nil if `uploads` is not shown.
  let fileTime: MedianTime?
  let published: ShownCount

  init(_ day: FunnelDay, least: Int) {
    self.day = day.day
    issued = ShownCount(day.issued, least: least)
    redeemed = Self.step(day.redeemed, after: day.issued, least)
    var seconds: Int?
    if case .exact(1...) = redeemed { seconds = day.redeemSeconds }
    redeemMinutes = seconds.map { ($0 + 59) / 60 }
    uploads = Self.step(day.uploads, after: day.redeemed, least)
    if case .exact(1...) = uploads {
      (uploadTime, fileTime) = (day.uploadTime, day.fileTime)
    } else {
      (uploadTime, fileTime) = (nil, nil)
    }
    // Keys in files include padding, so they reveal nothing about one upload.
    published = ShownCount(day.published, least: least)
  }

  private static func step(_ count: Int?, after before: Int?, _ least: Int) -> ShownCount {
    if let count, let before, count != before, abs(before - count) < least, count > 0 {
      return .few
    }
    return ShownCount(count, least: least)
  }
}
