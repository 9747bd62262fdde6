/// What the person is asked to allow.
public enum ConsentRequest: Hashable, Sendable {
  /// Sending and hearing beacons. Asked once; the answer is remembered.
  case enableExposureNotification
  /// Handing the person's own keys to the app. Asked every time.
  case shareDiagnosisKeys
  /// Letting the app see its exposures one by one, with the app's reason. Asked every time.
  case showExposureInfo(explanation: String)
  /// Handing the person's own keys to the app once within the next five days, without asking again.
  case preAuthorizeDiagnosisKeys
  /// Telling the app whether the person has left its region. Asked until there is a yes.
  case showTravelStatus
}
