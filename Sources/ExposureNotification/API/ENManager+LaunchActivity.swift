// Not Apple's: apps that also run on iOS 12.5 bring an extension of this name themselves, and theirs
// wins within their module.
extension ENManager {
  /// Sets `activityHandler`. Call it before `activate`.
  public func setLaunchActivityHandler(activityHandler: @escaping ENActivityHandler) {
    self.activityHandler = activityHandler
  }
}
