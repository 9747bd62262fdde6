// SPDX-License-Identifier: Apache-2.0
import ExposureNotification

/// Detections behind a protocol of the app. The file has no import of Foundation.
protocol ExposureChecking: AnyObject {
  var dispatchQueue: DispatchQueue { get set }
  func detectExposures(
    configuration: ENExposureConfiguration, diagnosisKeyURLs: [URL],
    completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress
}

extension ENManager: ExposureChecking {}

extension ENExposureWindow {
  /// The days from the window to `now`.
  func days(before now: Date) -> Int {
    Int(now.timeIntervalSince(date) / TimeInterval(86_400))
  }
}
