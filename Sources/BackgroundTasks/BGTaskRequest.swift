import Foundation

/// What an app wants done later. Apps use one of its two subclasses.
open class BGTaskRequest: NSObject {
  /// Which of the app's tasks it is.
  open private(set) var identifier: String
  /// Not before this moment; nil for any. There is no promise when it runs after that.
  open var earliestBeginDate: Date?

  init(identifier: String) {
    self.identifier = identifier
  }

  /// The request as it is now; later changes to the object do not count.
  var pending: PendingBackgroundTask {
    PendingBackgroundTask(
      identifier: identifier, kind: .refresh, earliestBeginDate: earliestBeginDate,
      requiresNetworkConnectivity: false, requiresExternalPower: false)
  }
}
