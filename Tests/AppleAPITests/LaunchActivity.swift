import ExposureNotification
import Foundation

// What apps that also run on iOS 12.5 bring themselves; within their module it wins over ours.
extension ENManager {
  func setLaunchActivityHandler(activityHandler: @escaping ENActivityHandler) {
    let number: (UInt32) -> Void = { activityHandler(ENActivityFlags(rawValue: $0)) }
    setValue(number, forKey: "activityHandler")
  }
}

/// An app's own view of the framework, to which Apple's classes are made to conform.
protocol Exposure {
  var date: Date { get }
}

extension ENExposureInfo: Exposure {}
extension ENExposureWindow: Exposure {}

protocol Manager: AnyObject {
  static var authorizationStatus: ENAuthorizationStatus { get }
  var exposureNotificationStatus: ENStatus { get }
  func activate(completionHandler: @escaping ENErrorHandler)
  func invalidate()
}

extension ENManager: Manager {}
