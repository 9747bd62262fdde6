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
  private let deviceObservation: UUID?
  /// What is being detected, so that invalidation can stop it.
  var running: [Progress] = []

  /// A manager of the device that the program installed with `Device.install(_:)`; without one,
  /// activation fails with `.unsupported`. It is designated, since subclasses in apps' tests call it.
  public override init() {
    device = Device.installed
    deviceObservation = Self.observation(of: device, for: life)
    super.init()
  }

  /// A manager of this device, for a program with many of them.
  package convenience init(device: Device) {
    self.init(on: device)
  }

  private init(on device: Device) {
    self.device = device
    deviceObservation = Self.observation(of: device, for: life)
    super.init()
  }

  private static func observation(of device: Device?, for life: ManagerLife) -> UUID? {
    let changes = life.changes
    return device?.standing.changes.add { changes.tell() }
  }

  deinit {
    if let deviceObservation { device?.standing.changes.remove(deviceObservation) }
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

  /// Looks for exposures to the people whose keys `diagnosisKeyURLs` hold: `.zip` files, or `.bin`
  /// files with their `.sig` beside them, signed by the region's authority.
  ///
  /// The configuration must not change until the handler is called. Cancelling the progress ends the
  /// detection with an error, midway, and nothing is kept. Fails with `.badParameter`, `.badFormat`,
  /// `.rateLimited` (15 calls in 24 hours in API version 1, 6 in version 2), `.notEnabled`.
  @discardableResult
  open func detectExposures(
    configuration: ENExposureConfiguration, diagnosisKeyURLs: [URL],
    completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    let (configuration, progress) = (Handoff(configuration), Progress())
    running.removeAll { $0.isFinished || $0.isCancelled }
    running.append(progress)
    ask({ completionHandler($0.value, $0.failure) }) { device in
      try await device.detect(configuration, keyFiles: diagnosisKeyURLs, progress: progress)
    }
    return progress
  }

  /// The exposures behind the last summary, API version 1 only; `userExplanation` tells the person
  /// why the app looks at them.
  ///
  /// Fails with `.unsupported` in version 2, `.badParameter` for another summary than the last.
  @discardableResult
  open func getExposureInfo(
    summary: ENExposureDetectionSummary, userExplanation: String,
    completionHandler: @escaping ENGetExposureInfoHandler
  ) -> Progress {
    let sums = summary.sums
    ask({ completionHandler($0.value, $0.failure) }) { device in
      try await device.exposureInfo(
        of: sums, explanation: userExplanation)
    }
    return Progress()
  }

  /// The exposure windows behind the last summary, API version 2 only, in no order.
  ///
  /// Fails with `.unsupported` in version 1, `.badParameter` for another summary than the last.
  @discardableResult
  open func getExposureWindows(
    summary: ENExposureDetectionSummary,
    completionHandler: @escaping ENGetExposureWindowsHandler
  ) -> Progress {
    let sums = summary.sums
    ask({ completionHandler($0.value, $0.failure) }) { device in
      try await device.exposureWindows(of: sums)
    }
    return Progress()
  }
}
