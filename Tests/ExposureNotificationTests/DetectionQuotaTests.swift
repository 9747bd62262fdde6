import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 6.
@Suite struct DetectionQuotaTests {
  static let limits = [
    DeviceLimit.detectionsPerDayVersion1, DeviceLimit.detectionsPerDayVersion2,
  ]

  @Test("Up to the limit a day, and again when the first call is 24 hours old", arguments: limits)
  func limit(_ limit: Int) {
    var quota = DetectionQuota()
    for call in 0..<limit {
      takes(&quota, at: TestPhone.noon + Double(call), limit: limit)
    }
    refuses(&quota, at: TestPhone.noon + TestPhone.day - 1, limit: limit)
    takes(&quota, at: TestPhone.noon + TestPhone.day, limit: limit)
    refuses(&quota, at: TestPhone.noon + TestPhone.day, limit: limit)
  }

  @Test("A clock set back by an hour does not lift the limit")
  func clockSetBack() {
    var quota = DetectionQuota()
    takes(&quota, at: TestPhone.noon, limit: 1)
    refuses(&quota, at: TestPhone.noon - 3600, limit: 1)
  }

  private func takes(_ quota: inout DetectionQuota, at time: Date, limit: Int) {
    let isTaken = quota.take(at: time, limit: limit)
    #expect(isTaken)
  }

  private func refuses(_ quota: inout DetectionQuota, at time: Date, limit: Int) {
    let isTaken = quota.take(at: time, limit: limit)
    #expect(!isTaken)
  }
}
