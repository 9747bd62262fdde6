import Foundation
import KeyServerAPI

/// Which of a phone's keys are shared. Documentation/App.md 5.3.
enum KeySelection {
  /// The transmission risk that every shared key carries, as the seed contract has it.
  static let transmissionRisk = 8

  /// The keys to share, or the reason why they may not be.
  static func keys(
    of all: [PendingUpload.Key], at now: Date
  ) throws(UploadReason) -> [PendingUpload.Key] {
    let today = (now.timeIntervalSince1970 / RemovalRule.daySeconds).rounded(.down)
    let tooOld = (today - Double(RemovalRule.exposureDays)) * RemovalRule.daySeconds
    let keys = all.filter { Double($0.rollingStartNumber) * intervalSeconds > tooOld }
    guard !keys.isEmpty else { throw .nothingToShare }
    switch UploadLimit.breach(of: keys.map(uploadKey), at: now) {
    case nil: return keys
    case .keyCount: throw .tooManyKeys
    case .keysWithOneStart: throw .tooManyKeysOfOneDay
    default: throw .keysOutOfOrder
    }
  }

  private static let intervalSeconds = 600.0

  private static func uploadKey(_ key: PendingUpload.Key) -> UploadKey {
    UploadKey(
      key: key.data.base64EncodedString(), rollingPeriod: key.rollingPeriod,
      rollingStartNumber: key.rollingStartNumber, transmissionRisk: key.transmissionRisk)
  }
}
