// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import Synchronization
import World

/// The period for which the phone's own files keep their entries: that of its device, which removes nothing because the
/// clock has jumped. Without a device it is that of the clock.
package final class PhoneRetention: Sendable {
  private let period = Mutex<@Sendable (Date) -> RetentionPeriod>({ RetentionPeriod(times: [$0]) })

  package init() {}

  /// Follows `device` from now on. The device does not have to outlive the files.
  func follow(_ device: Device) {
    period.withLock { period in
      period = { [weak device] in
        device?.retentionPeriod(at: $0) ?? RetentionPeriod(times: [$0])
      }
    }
  }

  /// The period at `now`, the time of the phone's clock.
  func period(at now: Date) -> RetentionPeriod { period.withLock(\.self)(now) }

  /// The entries of the last fourteen days, the period of encounters.
  func kept<Entry>(_ entries: [Entry], by date: KeyPath<Entry, Date>, at now: Date) -> [Entry] {
    let period = period(at: now)
    return entries.filter {
      period.keeps($0[keyPath: date], forSeconds: RemovalRule.exposureSeconds)
    }
  }
}
