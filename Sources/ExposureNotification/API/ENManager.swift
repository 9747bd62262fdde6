import Dispatch
import Foundation

/// Apple's door to exposure notification: what an app calls.
///
/// An object of the caller's own queue, open for tests to subclass. It holds no data: keys, contacts
/// and consent live in the `Device`. See Documentation/Framework.md 1.
open class ENManager: NSObject {
  /// Where handlers are called.
  open var dispatchQueue: dispatch_queue_t = .main
  /// Called once after `invalidate()`, when every other handler has been called.
  open var invalidationHandler: (() -> Void)?

  let device: Device?
  let life = ManagerLife()
  /// What is being detected, so that invalidation can stop it.
  var running: [Progress] = []

  /// A manager of the device that the program installed with `Device.install(_:)`; without one,
  /// activation fails with `.unsupported`.
  public override convenience init() {
    self.init(on: Device.installed)
  }

  /// A manager of this device, for a program with many of them.
  package convenience init(device: Device) {
    self.init(on: device)
  }

  private init(on device: Device?) {
    self.device = device
    super.init()
  }

  /// Whether the person lets the app use exposure notification. Never asks.
  open class var authorizationStatus: ENAuthorizationStatus {
    Device.installed?.authorizationStatus ?? .unknown
  }

  /// Whether beacons are sent and heard; `.unknown` until activated.
  open var exposureNotificationStatus: ENStatus {
    life.isActive ? device?.status ?? .unknown : .unknown
  }

  /// Whether the person has switched it on; false until activated.
  open var exposureNotificationEnabled: Bool {
    life.isActive && device?.isEnabled ?? false
  }

  /// Makes the manager usable. It switches nothing on.
  ///
  /// Fails with `.unsupported` without a device, `.notEntitled`, `.apiMisuse` the second time,
  /// `.invalidated` after `invalidate()`.
  open func activate(completionHandler: @escaping ENErrorHandler) {
    let life = life
    let begun = Result { () throws(ENError) in try life.beginActivation() }
    answer({ completionHandler($0.failure) }) { [device] in
      try begun.get()
      do {
        guard let device else { throw ENError(.unsupported) }
        try await device.admitManager()
      } catch {
        try life.endActivation(succeeded: false)
        throw error
      }
      try life.endActivation(succeeded: true)
      return Handoff(())
    }
  }

  /// Ends the manager. Running detections are stopped; handlers that are due are still called, the
  /// `invalidationHandler` after them, and then nothing more.
  open func invalidate() {
    guard life.invalidate() else { return }
    running.forEach { $0.cancel() }
    running = []
    let handler = Handoff(invalidationHandler)
    invalidationHandler = nil
    life.handlers.notify(queue: dispatchQueue) { handler.value?() }
  }

  /// Switches sending and hearing of beacons on or off. Keys and contacts stay.
  ///
  /// The first time the person is asked. Fails with `.notAuthorized` where the answer was or is no,
  /// `.insufficientStorage` where the answer could not be kept.
  open func setExposureNotificationEnabled(
    _ enabled: Bool, completionHandler: @escaping ENErrorHandler
  ) {
    ask({ completionHandler($0.failure) }) { device in
      Handoff(try await device.setEnabled(enabled))
    }
  }

  /// The person's keys of the last 14 days, for upload. The person is asked every time.
  ///
  /// API version 1 leaves out today's key. Version 2 hands it out cut short, and the phone goes on
  /// with a new one. Fails with `.notEnabled`, or `.notAuthorized` where the person says no.
  open func getDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
    ask({ completionHandler($0.value, $0.failure) }) { device in
      Handoff(try await device.releaseKeys().map(ENTemporaryExposureKey.init))
    }
  }
}
