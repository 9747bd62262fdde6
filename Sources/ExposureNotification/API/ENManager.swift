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
  /// Called when the system wakes the app for the framework's sake. Set it before `activate`.
  open var activityHandler: ENActivityHandler?
  /// Called with the keys that `requestPreAuthorizedDiagnosisKeys` releases.
  open var diagnosisKeysAvailableHandler: ENDiagnosisKeysAvailableHandler?

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
    life.invalidate()
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
    begin(completionHandler)
  }

  /// `activate(completionHandler:)`, awaited.
  open func activate() async throws {
    try await awaited { activate(completionHandler: $0) }
  }

  /// Ends the manager. Running detections are stopped; handlers that are due are still called, the
  /// `invalidationHandler` after them, and then nothing more.
  open func invalidate() {
    end()
  }

  // MARK: Switching on and off

  /// Switches sending and hearing of beacons on or off. Keys and contacts stay.
  ///
  /// The first time the person is asked. Fails with `.notAuthorized` where the answer was or is no,
  /// `.insufficientStorage` where the answer could not be kept; with `.bluetoothOff` where it is
  /// switched on now but the radio is off, and sending begins by itself when the radio is on.
  open func setExposureNotificationEnabled(
    _ enabled: Bool, completionHandler: @escaping ENErrorHandler
  ) {
    ask({ completionHandler($0.failure) }) { device in
      Handoff(try await device.setEnabled(enabled))
    }
  }

  /// `setExposureNotificationEnabled(_:completionHandler:)`, awaited.
  open func setExposureNotificationEnabled(_ enabled: Bool) async throws {
    try await awaited { setExposureNotificationEnabled(enabled, completionHandler: $0) }
  }

  // MARK: Looking for exposures

  /// Scores the matches of earlier calls once more, for example with another configuration. API
  /// version 2 only; it counts as a detection.
  ///
  /// Fails with `.unsupported` in version 1, else as the form with files.
  @discardableResult
  open func detectExposures(
    configuration: ENExposureConfiguration,
    completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    detect(configuration, keyFiles: nil, completionHandler)
  }

  /// Looks for exposures to the people whose keys `diagnosisKeyURLs` hold: `.zip` files, or `.bin`
  /// files with their `.sig` beside them, signed by the region's authority. API version 2 adds the
  /// matches of earlier calls.
  ///
  /// The configuration must not change until the handler is called. Cancelling the progress ends the
  /// detection with an error, midway, and nothing is kept. Fails with `.badParameter`, `.badFormat`,
  /// `.rateLimited` (15 calls in 24 hours in API version 1, 6 in version 2; the map of infectiousness
  /// changed twice in a week), `.notEnabled`, `.insufficientMemory` where more was heard than the
  /// device may hold at once.
  @discardableResult
  open func detectExposures(
    configuration: ENExposureConfiguration, diagnosisKeyURLs: [URL],
    completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    detect(configuration, keyFiles: diagnosisKeyURLs, completionHandler)
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
      try await device.exposureInfo(of: sums, explanation: userExplanation)
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

  // MARK: The person's own keys

  /// The person's keys of the last 14 days, for upload. The person is asked every time.
  ///
  /// API version 1 leaves out today's key. Version 2 hands it out cut short, and the phone goes on
  /// with a new one. Fails with `.notEnabled`, or `.notAuthorized` where the person says no.
  open func getDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
    askForKeys(completionHandler) { try await $0.releaseKeys() }
  }

  /// `getDiagnosisKeys(completionHandler:)`, awaited.
  open func diagnosisKeys() async throws -> [ENTemporaryExposureKey] {
    try await awaitedKeys { getDiagnosisKeys(completionHandler: $0) }
  }

  /// The person's keys with today's in both API versions, for trying an app out. The person is asked
  /// every time.
  ///
  /// Fails with `.notEntitled` without the test entitlement, else as `getDiagnosisKeys`.
  open func getTestDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
    askForKeys(completionHandler) { try await $0.releaseTestKeys() }
  }

  /// `getTestDiagnosisKeys(completionHandler:)`, awaited.
  open func testDiagnosisKeys() async throws -> [ENTemporaryExposureKey] {
    try await awaitedKeys { getTestDiagnosisKeys(completionHandler: $0) }
  }

  /// Asks the person, before a test has its result, whether the keys may be released within the next
  /// five days, once.
  ///
  /// Fails with `.notEnabled`, or `.notAuthorized` where the person says no.
  open func preAuthorizeDiagnosisKeys(completionHandler: @escaping ENErrorHandler) {
    ask({ completionHandler($0.failure) }) { device in
      Handoff(try await device.preAuthorizeKeys())
    }
  }

  /// `preAuthorizeDiagnosisKeys(completionHandler:)`, awaited.
  open func preAuthorizeDiagnosisKeys() async throws {
    try await awaited { preAuthorizeDiagnosisKeys(completionHandler: $0) }
  }

  /// Releases the keys that the person agreed to release, to `diagnosisKeysAvailableHandler`, without
  /// asking; the person is told.
  ///
  /// Fails with `.apiMisuse` without that handler, `.notAuthorized` without agreement or more than
  /// five days after it. Where the agreement was used before, the handler gets no keys.
  open func requestPreAuthorizedDiagnosisKeys(completionHandler: @escaping ENErrorHandler) {
    askForPreAuthorizedKeys(completionHandler)
  }

  /// `requestPreAuthorizedDiagnosisKeys(completionHandler:)`, awaited.
  open func requestPreAuthorizedDiagnosisKeys() async throws {
    try await awaited { requestPreAuthorizedDiagnosisKeys(completionHandler: $0) }
  }

  // MARK: Travel

  /// Whether the person has left the app's region in the last 14 days. The first time the person is
  /// asked whether the app may know.
  ///
  /// Fails with `.travelStatusNotAvailable` where the person says no or the phone does not know.
  open func getUserTraveled(completionHandler: @escaping ENGetUserTraveledHandler) {
    ask({ completionHandler($0.value ?? false, $0.failure) }) { device in
      Handoff(try await device.hasTraveled())
    }
  }

  /// `getUserTraveled(completionHandler:)`, awaited.
  open func userTraveled() async throws -> Bool {
    try await awaitedTravel { getUserTraveled(completionHandler: $0) }
  }

  // MARK: Key-value coding

  /// Key-value coding, as far as apps use it here: the key `activityHandler`, under which apps for
  /// iOS 12.5 store their handler. It takes a handler of flags or of their raw value; other keys
  /// change nothing.
  open func setValue(_ value: Any?, forKey key: String) {
    guard key == "activityHandler" else { return }
    if let handler = value as? (UInt32) -> Void {
      activityHandler = { handler($0.rawValue) }
    } else {
      activityHandler = value as? ENActivityHandler
    }
  }
}
