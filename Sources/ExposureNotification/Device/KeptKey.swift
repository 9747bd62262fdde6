import ExposureKeys
import Foundation

/// A published key that is kept to be scored again, and when it was first handed in.
struct KeptKey: Hashable, Sendable {
  let key: DiagnosisKey
  let since: Date

  func isKept(at now: Date) -> Bool {
    now.timeIntervalSince(since) <= Double(DeviceLimit.retentionDays) * Day.seconds
  }
}

extension KeptKey: CustomStringConvertible, CustomReflectable {
  /// The kind only: it says whom the phone met.
  var description: String { "KeptKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
