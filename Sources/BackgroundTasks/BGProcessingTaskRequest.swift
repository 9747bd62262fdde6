/// A request for a task that may take minutes.
open class BGProcessingTaskRequest: BGTaskRequest {
  /// Whether the task is of no use without a network.
  open var requiresNetworkConnectivity = false
  /// Whether the task should wait for a charger.
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
