import ExposureNotification
import Foundation

// Doubles as apps write them for their own tests: everything that can be overridden is.

class MockManager: ENManager {
  var calls: [String] = []
  private var status = ENStatus.active

  override init() {
    super.init()
  }

  override class var authorizationStatus: ENAuthorizationStatus { .authorized }

  override var exposureNotificationStatus: ENStatus {
    get { status }
    set { status = newValue }
  }

  override var exposureNotificationEnabled: Bool { true }

  override var dispatchQueue: dispatch_queue_t {
    get { super.dispatchQueue }
    set { super.dispatchQueue = newValue }
  }

  override var invalidationHandler: (() -> Void)? {
    get { super.invalidationHandler }
    set { super.invalidationHandler = newValue }
  }

  override var activityHandler: ENActivityHandler? {
    get { super.activityHandler }
    set { super.activityHandler = newValue }
  }

  override var diagnosisKeysAvailableHandler: ENDiagnosisKeysAvailableHandler? {
    get { super.diagnosisKeysAvailableHandler }
    set { super.diagnosisKeysAvailableHandler = newValue }
  }

  override func activate(completionHandler: @escaping ENErrorHandler) {
    calls.append("activate")
    completionHandler(nil)
  }

  override func invalidate() {
    calls.append("invalidate")
    invalidationHandler?()
  }

  override func setExposureNotificationEnabled(
    _ enabled: Bool, completionHandler: @escaping ENErrorHandler
  ) {
    calls.append("enable")
    completionHandler(enabled ? nil : ENError(.notAuthorized))
  }

  @discardableResult
  override func detectExposures(
    configuration: ENExposureConfiguration, completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    detectExposures(
      configuration: configuration, diagnosisKeyURLs: [], completionHandler: completionHandler)
  }

  @discardableResult
  override func detectExposures(
    configuration: ENExposureConfiguration, diagnosisKeyURLs: [URL],
    completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    calls.append("detect")
    completionHandler(MockSummary(), nil)
    return Progress()
  }

  @discardableResult
  override func getExposureInfo(
    summary: ENExposureDetectionSummary, userExplanation: String,
    completionHandler: @escaping ENGetExposureInfoHandler
  ) -> Progress {
    completionHandler([MockInfo()], nil)
    return Progress()
  }

  @discardableResult
  override func getExposureWindows(
    summary: ENExposureDetectionSummary, completionHandler: @escaping ENGetExposureWindowsHandler
  ) -> Progress {
    completionHandler([MockWindow()], nil)
    return Progress()
  }

  override func getDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
    completionHandler([MockKey()], nil)
  }

  override func getTestDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
    completionHandler(nil, ENError(.notEntitled))
  }

  override func preAuthorizeDiagnosisKeys(completionHandler: @escaping ENErrorHandler) {
    completionHandler(nil)
  }

  override func requestPreAuthorizedDiagnosisKeys(completionHandler: @escaping ENErrorHandler) {
    diagnosisKeysAvailableHandler?([MockKey()])
    completionHandler(nil)
  }

  override func getUserTraveled(completionHandler: @escaping ENGetUserTraveledHandler) {
    completionHandler(true, nil)
  }
}

class AsyncMockManager: ENManager {
  override func activate() async throws {}
  override func setExposureNotificationEnabled(_ enabled: Bool) async throws {
    throw ENError(.restricted)
  }
  override func diagnosisKeys() async throws -> [ENTemporaryExposureKey] { [MockKey()] }
  override func testDiagnosisKeys() async throws -> [ENTemporaryExposureKey] { [] }
  override func preAuthorizeDiagnosisKeys() async throws {}
  override func requestPreAuthorizedDiagnosisKeys() async throws {}
  override func userTraveled() async throws -> Bool { true }
}
