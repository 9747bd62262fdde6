/// The system's dialogs, which a program on Linux provides: a page, a test, or a rule of a simulation.
///
/// Called only where Apple's system asks the user.
public protocol ConsentPrompt: Sendable {
  /// Asks the user and returns the decision; `bundleIdentifier` names the app that asks.
  ///
  /// - Throws: if the prompt could not be shown; the app's call then fails with `.unknown`, and no
  ///   decision is stored.
  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async throws -> Bool

  /// Shows the user a notice without a choice. The default implementation shows nothing.
  func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async
}

extension ConsentPrompt {
  /// Shows nothing.
  public func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async {}
}

/// An action that needs the user's consent.
public enum ConsentRequest: Hashable, Sendable {
  /// Sending and receiving beacons. Asked once; the decision is stored.
  case enableExposureNotification
  /// Handing the user's own keys to the app. Asked every time.
  case shareDiagnosisKeys
  /// Showing the app its exposures one by one, for the reason the app gives. Asked every time.
  case showExposureInfo(explanation: String)
  /// Handing the user's own keys to the app once within the next five days, without asking again.
  case preAuthorizeDiagnosisKeys
  /// Telling the app if the user has left its region. Asked until the user agrees.
  case showTravelStatus
}

/// A notification that the system itself shows the user.
public enum ConsentNotice: Hashable, Sendable {
  /// Keys with consent given in advance have been handed to the app.
  case preAuthorizedKeysReleased
}
