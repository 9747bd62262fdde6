/// A request for a short task.
open class BGAppRefreshTaskRequest: BGTaskRequest {
  /// A request for the task that was registered under `identifier`.
  public override init(identifier: String) {
    super.init(identifier: identifier)
  }
}
