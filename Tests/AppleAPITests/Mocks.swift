// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

// Mocks as apps write them for their tests. They override every member that can be overridden.

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

class MockKey: ENTemporaryExposureKey {
  override init() {
    super.init()
  }

  override var keyData: Data {
    get { Data(repeating: 1, count: 16) }
    set {}
  }
  override var rollingPeriod: ENIntervalNumber {
    get { 144 }
    set {}
  }
  override var rollingStartNumber: ENIntervalNumber {
    get { 144 }
    set {}
  }
  override var transmissionRiskLevel: ENRiskLevel {
    get { 3 }
    set {}
  }
}

class MockSummary: ENExposureDetectionSummary {
  override var attenuationDurations: [NSNumber] { [60, 0, 0] }
  override var daysSinceLastExposure: Int { 2 }
  override var matchedKeyCount: UInt64 { 1 }
  override var maximumRiskScore: ENRiskScore { 8 }
  override var maximumRiskScoreFullRange: Double { 800 }
  override var metadata: [AnyHashable: Any]? { ["own": true] }
  override var riskScoreSumFullRange: Double { 800 }
  override var daySummaries: [ENExposureDaySummary] { [MockDaySummary()] }
}

class MockDaySummary: ENExposureDaySummary {
  private var storedDate = Date(timeIntervalSince1970: 86_400)

  override var date: Date {
    get { storedDate }
    set { storedDate = newValue }
  }
  override var confirmedTestSummary: ENExposureSummaryItem? { MockSummaryItem() }
  override var confirmedClinicalDiagnosisSummary: ENExposureSummaryItem? { nil }
  override var recursiveSummary: ENExposureSummaryItem? { nil }
  override var selfReportedSummary: ENExposureSummaryItem? { nil }
  override var daySummary: ENExposureSummaryItem { MockSummaryItem() }
}

class MockSummaryItem: ENExposureSummaryItem {
  override var maximumScore: Double { 60 }
  override var scoreSum: Double { 120 }
  override var weightedDurationSum: TimeInterval { 180 }
}

class MockInfo: ENExposureInfo {
  override var attenuationDurations: [NSNumber] { [60] }
  override var attenuationValue: ENAttenuation { 40 }
  override var date: Date { Date(timeIntervalSince1970: 0) }
  override var daysSinceOnsetOfSymptoms: Int { 1 }
  override var diagnosisReportType: ENDiagnosisReportType { .confirmedTest }
  override var duration: TimeInterval { 300 }
  override var metadata: [AnyHashable: Any]? { nil }
  override var totalRiskScore: ENRiskScore { 9 }
  override var totalRiskScoreFullRange: Double { 900 }
  override var transmissionRiskLevel: ENRiskLevel { 7 }
}

class MockWindow: ENExposureWindow {
  override var calibrationConfidence: ENCalibrationConfidence { .high }
  override var date: Date { Date(timeIntervalSince1970: 0) }
  override var diagnosisReportType: ENDiagnosisReportType { .selfReported }
  override var infectiousness: ENInfectiousness { .high }
  override var scanInstances: [ENScanInstance] { [MockScan()] }
  override var variantOfConcernType: ENVariantOfConcernType { .type2 }
}

class MockScan: ENScanInstance {
  override var minimumAttenuation: ENAttenuation { 20 }
  override var typicalAttenuation: ENAttenuation { 30 }
  override var secondsSinceLastScan: Int { 300 }
}

class MockConfiguration: ENExposureConfiguration {
  override var minimumRiskScore: ENRiskScore {
    get { 1 }
    set {}
  }
  override var immediateDurationWeight: Double {
    get { 150 }
    set {}
  }
}
