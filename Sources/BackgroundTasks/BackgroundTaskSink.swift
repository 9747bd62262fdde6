// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs an app's background tasks, as Apple's system does. A program on Linux implements it.
public protocol BackgroundTaskSink: Sendable {
  /// Called after each change, on the thread of the caller, with all pending requests. The sink decides when to
  /// call `BGTaskScheduler.launch(_:)`.
  func pendingTasksChanged(_ pending: [PendingBackgroundTask])
}

/// A pending request, as the sink sees it.
public struct PendingBackgroundTask: Hashable, Sendable {
  /// The identifier of the app's task.
  public let identifier: String
  /// The kind of task.
  public let kind: BackgroundTaskKind
  /// The earliest start; nil for any time.
  public let earliestBeginDate: Date?
  /// True if the task needs a network.
  public let requiresNetworkConnectivity: Bool
  /// True if the task needs external power.
  public let requiresExternalPower: Bool
}

extension PendingBackgroundTask {
  /// A new request object with these values.
  var request: BGTaskRequest {
    let request: BGTaskRequest
    switch kind {
    case .refresh: request = BGAppRefreshTaskRequest(identifier: identifier)
    case .processing:
      let processing = BGProcessingTaskRequest(identifier: identifier)
      processing.requiresNetworkConnectivity = requiresNetworkConnectivity
      processing.requiresExternalPower = requiresExternalPower
      request = processing
    }
    request.earliestBeginDate = earliestBeginDate
    return request
  }
}

/// The two kinds of background task.
public enum BackgroundTaskKind: Sendable, CaseIterable {
  /// Seconds long, to fetch something new.
  case refresh
  /// Minutes long.
  case processing
}

/// The highest numbers of pending requests; the figures are Apple's.
public enum BackgroundTaskLimit {
  /// The limit of refresh tasks.
  public static let pendingRefreshTasks = 1
  /// The limit of processing tasks.
  public static let pendingProcessingTasks = 10

  static func pending(_ kind: BackgroundTaskKind) -> Int {
    switch kind {
    case .refresh: pendingRefreshTasks
    case .processing: pendingProcessingTasks
    }
  }
}
