// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Testing

/// Mocks replace the framework, and the async forms call their overrides.
struct MockTests {
  @Test("Both forms of a call reach the override")
  func manager() async throws {
    let mock = MockManager()
    let manager: ENManager = mock
    #expect(type(of: manager).authorizationStatus == .authorized)
    #expect(manager.exposureNotificationEnabled)
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.setExposureNotificationEnabled(false)
    }
    #expect(try await manager.diagnosisKeys().first?.keyData.count == 16)
    await #expect(throws: ENError(.notEntitled)) { _ = try await manager.testDiagnosisKeys() }
    #expect(try await manager.userTraveled())
    var released = 0
    manager.diagnosisKeysAvailableHandler = { released += $0.count }
    try await manager.preAuthorizeDiagnosisKeys()
    try await manager.requestPreAuthorizedDiagnosisKeys()
    #expect(released == 1)
    manager.detectExposures(configuration: MockConfiguration()) { summary, error in
      #expect(summary?.matchedKeyCount == 1 && error == nil)
      #expect(summary?.daySummaries.first?.confirmedTestSummary?.scoreSum == 120)
    }
    manager.getExposureInfo(summary: MockSummary(), userExplanation: "") { infos, _ in
      #expect(infos?.first?.totalRiskScore == 9)
    }
    manager.getExposureWindows(summary: MockSummary()) { windows, _ in
      #expect(windows?.first?.scanInstances.first?.typicalAttenuation == 30)
    }
    manager.invalidate()
    #expect(mock.calls == ["activate", "enable", "enable", "detect", "invalidate"])
    mock.exposureNotificationStatus = .paused
    #expect(manager.exposureNotificationStatus == .paused)
  }

  @Test("Async forms can be overridden as well")
  func asyncForms() async throws {
    let manager: ENManager = AsyncMockManager()
    try await manager.activate()
    await #expect(throws: ENError(.restricted)) {
      try await manager.setExposureNotificationEnabled(true)
    }
    #expect(try await manager.diagnosisKeys().count == 1)
    #expect(try await manager.testDiagnosisKeys().isEmpty)
    try await manager.preAuthorizeDiagnosisKeys()
    try await manager.requestPreAuthorizedDiagnosisKeys()
    #expect(try await manager.userTraveled())
  }

  @Test("An app's setLaunchActivityHandler takes precedence, and classes conform to its protocols")
  func ownExtension() {
    let manager = ENManager()
    var received: [ENActivityFlags] = []
    manager.setLaunchActivityHandler { received.append($0) }
    manager.activityHandler?([.periodicRun])
    #expect(received == [.periodicRun])
    let exposures: [Exposure] = [ENExposureInfo(), MockWindow()]
    #expect(exposures.count == 2)
    let own: Manager = manager
    #expect(own.exposureNotificationStatus == .unknown)
  }
}

// An extension of apps that also run on iOS 12.5; in their module it takes precedence over ours.
extension ENManager {
  func setLaunchActivityHandler(activityHandler: @escaping ENActivityHandler) {
    let number: (UInt32) -> Void = { activityHandler(ENActivityFlags(rawValue: $0)) }
    setValue(number, forKey: "activityHandler")
  }
}

/// A protocol of an app to which Apple's classes conform.
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
