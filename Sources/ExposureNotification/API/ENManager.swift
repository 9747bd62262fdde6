// SPDX-License-Identifier: Apache-2.0
import Dispatch
// Apps use Foundation through this module, as on Apple's systems.
@_exported import Foundation

/// Apple's interface of exposure notification for apps.
///
/// Use an object from one queue only. All classes are open, so that apps can subclass them in tests. The
/// manager holds no data: keys, contacts and consent belong to the `Device`.
open class ENManager: NSObject {
  /// The queue on which handlers are called.
  open var dispatchQueue: dispatch_queue_t = .main
  /// Called once after `invalidate()`, when every other handler has been called.
  open var invalidationHandler: (() -> Void)?
  /// Called when the system wakes the app for exposure notification. Set it before `activate`.
  open var activityHandler: ENActivityHandler?
  /// Called with the keys that `requestPreAuthorizedDiagnosisKeys` releases.
  open var diagnosisKeysAvailableHandler: ENDiagnosisKeysAvailableHandler?

  let device: Device?
  let lifecycle = ManagerLifecycle()
  private let deviceObservation: UUID?
  /// The detections that invalidation cancels.
  var runningDetections: [Progress] = []

  /// A manager of the device that the program installed with `Device.install(_:)`; without one,
  /// activation fails with `.unsupported`. It is designated, because subclasses in apps' tests call it.
  public override init() {
    device = Device.installed
    deviceObservation = Self.observation(of: device, for: lifecycle)
    super.init()
  }

  /// A manager of this device, for a program with many devices.
  package convenience init(device: Device) {
    self.init(on: device)
  }

  private init(on device: Device) {
    self.device = device
    deviceObservation = Self.observation(of: device, for: lifecycle)
    super.init()
  }

  private static func observation(of device: Device?, for lifecycle: ManagerLifecycle) -> UUID? {
    let changes = lifecycle.changes
    return device?.state.changes.add { changes.notify() }
  }

  deinit {
    if let deviceObservation { device?.state.changes.remove(deviceObservation) }
    lifecycle.invalidate()
  }

  /// The user's decision about exposure notification. Does not ask the user.
  open class var authorizationStatus: ENAuthorizationStatus {
    Device.installed?.authorizationStatus ?? .unknown
  }

  /// The state of sending and receiving beacons; `.unknown` until activated.
  open var exposureNotificationStatus: ENStatus {
    lifecycle.isActive ? device?.status ?? .unknown : .unknown
  }

  /// True if the user has turned exposure notification on; false until activated.
  open var exposureNotificationEnabled: Bool {
    lifecycle.isActive && device?.isEnabled ?? false
  }

  /// Makes the manager usable. It turns nothing on.
  ///
  /// Fails with `.unsupported` without a device, `.notEntitled`, `.apiMisuse` the second time,
  /// `.invalidated` after `invalidate()`.
  open func activate(completionHandler: @escaping ENErrorHandler) {
    beginActivation(completionHandler)
  }

  /// The async form of `activate(completionHandler:)`.
  open func activate() async throws {
    try await awaited { activate(completionHandler: $0) }
  }

  /// Ends the manager. Running detections are cancelled. Pending handlers are still called, and after
  /// them the `invalidationHandler`.
  open func invalidate() {
    endLifecycle()
  }

  // MARK: Turning on and off

  /// Turns sending and receiving of beacons on or off. Keys and contacts stay.
  ///
  /// The first time the user is asked. Fails with `.notAuthorized` if the user has declined, with
  /// `.insufficientStorage` if the decision could not be stored, and with `.bluetoothOff` if it is turned
  /// on now but the radio is off; sending then starts when the radio is on.
  open func setExposureNotificationEnabled(
    _ enabled: Bool, completionHandler: @escaping ENErrorHandler
  ) {
    perform({ completionHandler($0.failure) }) { device in
      try await device.setEnabled(enabled)
    }
  }

  /// The async form of `setExposureNotificationEnabled(_:completionHandler:)`.
  open func setExposureNotificationEnabled(_ enabled: Bool) async throws {
    try await awaited { setExposureNotificationEnabled(enabled, completionHandler: $0) }
  }

  // MARK: Detecting exposures

  /// Scores the matches of earlier calls again, for example with another configuration. API
  /// version 2 only; it counts as a detection.
  ///
  /// Fails with `.unsupported` in version 1, otherwise like the form with files.
  @discardableResult
  open func detectExposures(
    configuration: ENExposureConfiguration,
    completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    detect(configuration, keyFiles: nil, completionHandler)
  }

  /// Detects exposures to the users whose keys are in `diagnosisKeyURLs`: `.zip` files, or `.bin` files
  /// with their `.sig` in the same folder, signed by the region's authority. API version 2 adds the matches
  /// of earlier calls.
  ///
  /// The configuration must not change until the handler is called. Cancelling the progress ends the
  /// detection with `CocoaError.userCancelled`, and nothing is stored. Fails with `.badParameter`,
  /// `.badFormat`, `.rateLimited` (15 calls in 24 hours in API version 1, 6 in version 2; two changes of
  /// the infectiousness map within a week), `.notEnabled`, `.insufficientMemory` if there are more
  /// sightings than the device may hold in memory, or `.dataInaccessible` if the matches of earlier calls are
  /// lost; then pass all files of the last 14 days.
  @discardableResult
  open func detectExposures(
    configuration: ENExposureConfiguration, diagnosisKeyURLs: [URL],
    completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    detect(configuration, keyFiles: diagnosisKeyURLs, completionHandler)
  }

  /// Returns the exposures of the last summary, API version 1 only. `userExplanation` is the app's reason,
  /// which the user sees.
  ///
  /// Fails with `.unsupported` in version 2 and with `.badParameter` for any other summary.
  @discardableResult
  open func getExposureInfo(
    summary: ENExposureDetectionSummary, userExplanation: String,
    completionHandler: @escaping ENGetExposureInfoHandler
  ) -> Progress {
    let sums = summary.sums
    perform({ completionHandler($0.value?.map(ENExposureInfo.init), $0.failure) }) { device in
      try await device.exposureInfo(of: sums, explanation: userExplanation)
    }
    return Progress()
  }

  /// Returns the exposure windows of the last summary in no particular order, API version 2 only.
  ///
  /// Fails with `.unsupported` in version 1 and with `.badParameter` for any other summary.
  @discardableResult
  open func getExposureWindows(
    summary: ENExposureDetectionSummary,
    completionHandler: @escaping ENGetExposureWindowsHandler
  ) -> Progress {
    let sums = summary.sums
    perform({ completionHandler($0.value?.map(ENExposureWindow.init), $0.failure) }) { device in
      try await device.exposureWindows(of: sums)
    }
    return Progress()
  }

  // MARK: The user's own keys

  /// Returns the user's keys of the last 14 days for an upload. The user is asked every time.
  ///
  /// API version 1 leaves out today's key. Version 2 returns it shortened, and the device goes on with a
  /// new one, at most twice a day. Fails with `.notEnabled`, with `.notAuthorized` if the user declines, and
  /// once with `.dataInaccessible` if keys were lost; the next call returns the rest.
  open func getDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
    requestKeys(completionHandler) { try await $0.releaseKeys() }
  }

  /// The async form of `getDiagnosisKeys(completionHandler:)`.
  open func diagnosisKeys() async throws -> [ENTemporaryExposureKey] {
    try await awaitedKeys { getDiagnosisKeys(completionHandler: $0) }
  }

  /// Returns the user's keys with today's in both API versions, for testing an app. The user is asked
  /// every time.
  ///
  /// Fails with `.notEntitled` without the test entitlement, otherwise like `getDiagnosisKeys`.
  open func getTestDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
    requestKeys(completionHandler) { try await $0.releaseTestKeys() }
  }

  /// The async form of `getTestDiagnosisKeys(completionHandler:)`.
  open func testDiagnosisKeys() async throws -> [ENTemporaryExposureKey] {
    try await awaitedKeys { getTestDiagnosisKeys(completionHandler: $0) }
  }

  /// Asks the user, before the result of a test is known, for consent to release the keys once within the
  /// next five days.
  ///
  /// Fails with `.notEnabled`, or with `.notAuthorized` if the user declines.
  open func preAuthorizeDiagnosisKeys(completionHandler: @escaping ENErrorHandler) {
    perform({ completionHandler($0.failure) }) { device in
      try await device.preAuthorizeKeys()
    }
  }

  /// The async form of `preAuthorizeDiagnosisKeys(completionHandler:)`.
  open func preAuthorizeDiagnosisKeys() async throws {
    try await awaited { preAuthorizeDiagnosisKeys(completionHandler: $0) }
  }

  /// Passes the pre-authorized keys to `diagnosisKeysAvailableHandler` without asking; the user is
  /// notified.
  ///
  /// Fails with `.apiMisuse` without that handler, and with `.notAuthorized` without consent or more than
  /// five days after it. If the consent was used before, the handler gets no keys.
  open func requestPreAuthorizedDiagnosisKeys(completionHandler: @escaping ENErrorHandler) {
    requestPreAuthorizedKeys(completionHandler)
  }

  /// The async form of `requestPreAuthorizedDiagnosisKeys(completionHandler:)`.
  open func requestPreAuthorizedDiagnosisKeys() async throws {
    try await awaited { requestPreAuthorizedDiagnosisKeys(completionHandler: $0) }
  }

  // MARK: Travel

  /// Returns `true` if the user has left the app's region in the last 14 days. The first time the user is
  /// asked for consent.
  ///
  /// Fails with `.travelStatusNotAvailable` if the user declines or the device does not know.
  open func getUserTraveled(completionHandler: @escaping ENGetUserTraveledHandler) {
    perform({ completionHandler($0.value ?? false, $0.failure) }) { device in
      try await device.hasTraveled()
    }
  }

  /// The async form of `getUserTraveled(completionHandler:)`.
  open func userTraveled() async throws -> Bool {
    try await awaitedTravel { getUserTraveled(completionHandler: $0) }
  }

  // MARK: Key-value coding

  /// Sets the value of a key. The only key is `activityHandler`, under which apps for iOS 12.5 store their
  /// handler: a block that receives the raw value of the flags. Other keys are ignored.
  // The only form: the runtime on Linux has no metadata of block types, so a block in an `Any` or passed to generic
  // code, such as `Optional.map`, crashes.
  open func setValue(_ value: (@convention(block) (UInt32) -> Void)?, forKey key: String) {
    guard key == "activityHandler" else { return }
    if let value {
      activityHandler = { value($0.rawValue) }
    } else {
      activityHandler = nil
    }
  }
}

/// Called at the end of a call with its error, if any.
public typealias ENErrorHandler = ((any Error)?) -> Void
/// Called with the user's own keys or with an error.
public typealias ENGetDiagnosisKeysHandler = ([ENTemporaryExposureKey]?, (any Error)?) -> Void
/// Called with pre-authorized keys.
public typealias ENDiagnosisKeysAvailableHandler = ([ENTemporaryExposureKey]) -> Void
/// Called with `true` if the user has left the region, or with an error.
public typealias ENGetUserTraveledHandler = (Bool, (any Error)?) -> Void
/// Called with the reasons for which the system woke the app.
public typealias ENActivityHandler = (ENActivityFlags) -> Void
/// Called with the summary of a detection or with an error.
public typealias ENDetectExposuresHandler = (ENExposureDetectionSummary?, (any Error)?) -> Void
/// Called with the exposures of a detection of API version 1 or with an error.
public typealias ENGetExposureInfoHandler = ([ENExposureInfo]?, (any Error)?) -> Void
/// Called with the exposure windows of a detection of API version 2 or with an error.
public typealias ENGetExposureWindowsHandler = ([ENExposureWindow]?, (any Error)?) -> Void

// Not Apple's: apps that also run on iOS 12.5 declare an extension of this name themselves.
extension ENManager {
  /// Sets `activityHandler`. Call it before `activate`.
  ///
  /// An app's own extension of this name is preferred, also if its handler takes flags of the app.
  @_disfavoredOverload
  public func setLaunchActivityHandler(activityHandler: @escaping ENActivityHandler) {
    self.activityHandler = activityHandler
  }
}
