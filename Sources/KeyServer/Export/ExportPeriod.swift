import Foundation

/// The grid of export periods, aligned to Unix time.
struct ExportPeriod: Hashable, Sendable {
  let seconds: Int

  /// The latest boundary that is not after `moment`.
  func boundary(notAfter moment: Date) -> Date {
    let length = TimeInterval(seconds)
    return Date(
      timeIntervalSince1970: (moment.timeIntervalSince1970 / length).rounded(.down) * length)
  }

  /// The first boundary after `moment`.
  func boundary(after moment: Date) -> Date {
    boundary(notAfter: moment).addingTimeInterval(TimeInterval(seconds))
  }
}
