import ExposureNotification
import Foundation
import Synchronization

@testable import ExposureApp

/// What a `ScriptedFramework` answers, and what it was asked.
final class FrameworkScript: Sendable {
  struct State: Sendable {
    var authorization = ENAuthorizationStatus.authorized
    var status = ENStatus.active
    var isEnabled = true
    var enableError: ENError.Code?
    var keysError: ENError.Code?
    var keys: [(data: Data, start: UInt32, period: UInt32)] = []
    /// Files whose name contains one of these are refused as malformed.
    var refusedFiles: Set<String> = []
    var detectionError: ENError.Code?
    /// Seconds and score of each encounter that a detection finds.
    var found: [(date: Date, seconds: Double, score: Double)] = []
    /// What a detection of API version 2 finds, all of it each time.
    var windows: [RiskWindow] = []
    var windowsError: ENError.Code?
    var matchedKeyCount: UInt64 = 0
    /// The map of infectiousness of each detection.
    var maps: [[Int: Int]?] = []
    /// A detection waits until its progress is cancelled.
    var detectionHangs = false
    var detections: [[String]] = []
    var timesInfosWereAsked = 0
    var timesKeysWereAsked = 0
  }

  private let mutex = Mutex(State())

  var state: State {
    get { mutex.withLock { $0 } }
    set { mutex.withLock { $0 = newValue } }
  }

  func update(_ change: (inout State) -> Void) { mutex.withLock { change(&$0) } }
}
