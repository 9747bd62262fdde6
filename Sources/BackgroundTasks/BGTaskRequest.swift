// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A request to run a task later. Apps use one of the two subclasses.
open class BGTaskRequest: NSObject, NSCopying {
  /// The identifier of the task.
  open private(set) var identifier: String
  /// The earliest start; nil for any time. The task may start any time later.
  open var earliestBeginDate: Date?

  init(identifier: String) {
    self.identifier = identifier
  }

  /// Returns a request with the current values.
  open func copy(with zone: NSZone? = nil) -> Any { pending.request }

  /// A copy of the current values; later changes to the object have no effect.
  var pending: PendingBackgroundTask {
    PendingBackgroundTask(
      identifier: identifier, kind: .refresh, earliestBeginDate: earliestBeginDate,
      requiresNetworkConnectivity: false, requiresExternalPower: false)
  }
}

/// A request for a short task.
open class BGAppRefreshTaskRequest: BGTaskRequest {
  /// A request for the task that was registered under `identifier`.
  public override init(identifier: String) {
    super.init(identifier: identifier)
  }
}

/// A request for a task that may take minutes.
open class BGProcessingTaskRequest: BGTaskRequest {
  /// True if the task needs a network.
  open var requiresNetworkConnectivity = false
  /// True if the task needs external power.
  open var requiresExternalPower = false

  /// A request for the task that was registered under `identifier`.
  public override init(identifier: String) {
    super.init(identifier: identifier)
  }

  override var pending: PendingBackgroundTask {
    PendingBackgroundTask(
      identifier: identifier, kind: .processing, earliestBeginDate: earliestBeginDate,
      requiresNetworkConnectivity: requiresNetworkConnectivity,
      requiresExternalPower: requiresExternalPower)
  }
}
