import Foundation

/// What an app asks to be run, as the sink sees it.
public struct PendingBackgroundTask: Hashable, Sendable {
  /// The app's name for it.
  public let identifier: String
  /// Short or long.
  public let kind: BackgroundTaskKind
  /// Not before this moment; nil for any.
  public let earliestBeginDate: Date?
  /// Whether it is of no use without a network.
  public let requiresNetworkConnectivity: Bool
  /// Whether it should wait for a charger.
  public let requiresExternalPower: Bool
}

extension PendingBackgroundTask {
  /// The same request as the app made it, as an object of its own.
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
