import Foundation

/// That a phone reported a test of its own, and how long it waits before the next report.
///
/// Documentation/VerificationServer.md 3.8.
struct PhoneReport: Hashable, Sendable {
  /// The mark of its number.
  let phoneMark: Data
  /// When it may report again, in whole seconds.
  private(set) var freeAt: Date
  /// When it may once its code has been used.
  let freeAtWhenClaimed: Date

  init(phoneMark: Data, freeAt: Date, freeAtWhenClaimed: Date) {
    self.phoneMark = phoneMark
    self.freeAt = freeAt
    self.freeAtWhenClaimed = freeAtWhenClaimed
  }

  /// A report of `now`.
  init(phoneMark: Data, at now: Date) {
    let second = Date(unixSecond: now.unixSecond)
    self.init(
      phoneMark: phoneMark,
      freeAt: second.addingTimeInterval(VerificationLimit.reportUnclaimedSeconds),
      freeAtWhenClaimed: second.addingTimeInterval(VerificationLimit.reportAgainSeconds))
  }

  /// The report of a phone whose code was used: it waits longer.
  var claimed: PhoneReport {
    var copy = self
    copy.freeAt = freeAtWhenClaimed
    return copy
  }

  /// Whether the phone has to wait at `now`.
  func isBusy(at now: Date) -> Bool { Date(unixSecond: now.unixSecond) < freeAt }
}
