// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Synchronization

/// The state of the app at one moment, as a user interface shows it.
public struct AppState: Sendable, Hashable {
  /// The risk level of the last fourteen days; `unknown` while lost or undone results are computed again.
  public let riskLevel: RiskLevel
  /// The number of exposures of the last fourteen days.
  public let exposureCount: Int
  /// The end of the last complete check; `nil` before the first.
  public let lastCheck: Date?
  /// The reason why the last check failed; `nil` if it succeeded.
  public let lastFailure: CheckFailure?
  /// The time of the next check by `runSchedule()`; `nil` before the first.
  public let nextCheck: Date?
  /// The status of exposure notifications and Bluetooth.
  public let service: ServiceStatus
  /// The condition of the app's store.
  public let storage: StorageCondition
  /// The damage that is neither repaired nor acknowledged by the user.
  public let damage: [DataDamage]
  /// The kinds of the notices that are shown.
  public let notices: Set<Notice.Identifier>
  /// The positive test that the user has reported in the last fourteen days.
  public let reportedTest: ReportedTest?
  /// True if an unfinished upload can be continued.
  public let hasPendingUpload: Bool
  /// True while a check is running.
  public let isChecking: Bool
  /// The step of the running upload; `nil` if none is running.
  public let upload: UploadProgress?
  /// True while the health authority has paused checks and uploads.
  public let isPaused: Bool
  /// The reason why the last device configuration was rejected; `nil` if it was accepted.
  public let configurationRefusal: DeviceConfigurationError?
  /// The sharing of the keys of the days after an upload; `nil` if none was offered.
  public let followUp: FollowUp?
  /// The reason why they could not be shared yet; the app retries.
  public let followUpFailure: UploadFailure?
}

/// A change of the app's state: the new state and the reason.
public struct StateChange: Sendable, Hashable {
  /// The reason of a change.
  public enum Reason: Sendable, Hashable {
    /// The app was started.
    case started
    /// A check has begun.
    case checkStarted
    /// A check has ended.
    case checkFinished(CheckOutcome)
    /// A check found an exposure that raised the risk level to this one.
    case exposureFound(RiskLevel)
    /// The user has turned exposure notifications on or off, or has completed the onboarding.
    case consentChanged
    /// An upload has reached this step.
    case uploadProgress(UploadProgress)
    /// An upload has ended.
    case uploadFinished(UploadOutcome)
    /// The user has removed exposures or all data, or old data has expired.
    case removal
    /// Stored data is damaged; it was set aside.
    case storageDamaged(DataDamage)
    /// Lost results have been computed again.
    case storageRestored
    /// A notice is shown.
    case noticeShown(Notice.Identifier)
    /// A notice has been removed.
    case noticeRemoved(Notice.Identifier)
  }

  /// The state after the change.
  public let state: AppState
  /// The reason of the change.
  public let reason: Reason
}

/// The step of a running upload.
public enum UploadProgress: String, Encodable, Sendable {
  /// The user is asked to share the keys.
  case waitingForConsent
  /// The PIN is exchanged for a token.
  case requestingToken
  /// The keys are sent.
  case sending
}

/// Passes state changes to all subscribers.
final class StateChangeFeed: Sendable {
  private let subscribers = Mutex<[UUID: AsyncStream<StateChange>.Continuation]>([:])

  /// A sequence of all changes from now on. A slow reader loses the oldest beyond the limit.
  func subscribe() -> AsyncStream<StateChange> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: StateChange.self, bufferingPolicy: .bufferingNewest(StateChangeLimit.bufferedMax))
    let id = UUID()
    subscribers.withLock { $0[id] = continuation }
    continuation.onTermination = { [weak self] _ in
      _ = self?.subscribers.withLock { $0.removeValue(forKey: id) }
    }
    return stream
  }

  func send(_ change: StateChange) {
    for subscriber in subscribers.withLock({ Array($0.values) }) { subscriber.yield(change) }
  }
}

/// Limits of `ExposureApp.makeStateChanges()`.
public enum StateChangeLimit {
  /// The number of changes that wait for a slow reader.
  public static let bufferedMax = 100
}
