/// The delegate, which the app owns.
struct WeakDelegate {
  private(set) weak var delegate: (any UNUserNotificationCenterDelegate)?

  init(_ delegate: any UNUserNotificationCenterDelegate) {
    self.delegate = delegate
  }
}
