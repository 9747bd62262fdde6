import ExposureNotification
import Foundation
import Testing

/// Doubles answer in place of the framework, and the async forms go through their overrides.
struct MockTests {
  @Test("Calls reach the override, whichever form the app uses")
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

  @Test("An app's own setLaunchActivityHandler wins and works; Apple's classes join its protocols")
  func ownExtension() {
    let manager = ENManager()
    var heard: [ENActivityFlags] = []
    manager.setLaunchActivityHandler { heard.append($0) }
    manager.activityHandler?([.periodicRun])
    #expect(heard == [.periodicRun])
    let exposures: [Exposure] = [ENExposureInfo(), MockWindow()]
    #expect(exposures.count == 2)
    let own: Manager = manager
    #expect(own.exposureNotificationStatus == .unknown)
  }
}
