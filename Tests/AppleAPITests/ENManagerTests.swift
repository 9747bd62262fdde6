// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Testing

/// `ENManager`: every call in every form, before activation.
struct ENManagerTests {
  private let manager = ENManager()

  init() {
    manager.dispatchQueue = DispatchQueue(label: "app")
  }

  /// The error code that the handler of a call receives.
  private func reason(of call: (@escaping (Error?) -> Void) -> Void) async -> ENError.Code? {
    await withCheckedContinuation { done in
      call { error in done.resume(returning: (error as? ENError)?.code) }
    }
  }

  @Test("Properties have Apple's defaults")
  func properties() {
    let fresh = ENManager()
    #expect(fresh.dispatchQueue.label == DispatchQueue.main.label)
    #expect(fresh.exposureNotificationStatus == .unknown)
    #expect(!fresh.exposureNotificationEnabled)
    #expect(fresh.invalidationHandler == nil && fresh.activityHandler == nil)
    #expect(fresh.diagnosisKeysAvailableHandler == nil)
    fresh.invalidationHandler = {}
    fresh.activityHandler = { (_: ENActivityFlags) in }
    fresh.diagnosisKeysAvailableHandler = { (_: [ENTemporaryExposureKey]) in }
    #expect(fresh.invalidationHandler != nil && fresh.activityHandler != nil)
    let status: ENAuthorizationStatus = ENManager.authorizationStatus
    #expect((0...3).contains(status.rawValue))
  }

  @Test("Before activation every form with a handler fails with apiMisuse")
  func handlers() async {
    let (manager, configuration) = (manager, ENExposureConfiguration())
    let summary = ENExposureDetectionSummary()
    manager.diagnosisKeysAvailableHandler = { _ in }
    let calls: [(@escaping (Error?) -> Void) -> Void] = [
      { done in manager.setExposureNotificationEnabled(true) { done($0) } },
      { done in manager.detectExposures(configuration: configuration) { _, error in done(error) } },
      { done in
        manager.detectExposures(configuration: configuration, diagnosisKeyURLs: []) { _, error in
          done(error)
        }
      },
      { done in
        manager.getExposureInfo(summary: summary, userExplanation: "why") { _, error in
          done(error)
        }
      },
      { done in manager.getExposureWindows(summary: summary) { _, error in done(error) } },
      { done in manager.getDiagnosisKeys { _, error in done(error) } },
      { done in manager.getTestDiagnosisKeys { _, error in done(error) } },
      { done in manager.preAuthorizeDiagnosisKeys { done($0) } },
      { done in manager.requestPreAuthorizedDiagnosisKeys { done($0) } },
      { done in manager.getUserTraveled { _, error in done(error) } },
    ]
    for call in calls { #expect(await reason(of: call) == .apiMisuse) }
  }

  @Test("Before activation every async form throws apiMisuse")
  func asyncForms() async {
    await #expect(throws: ENError(.apiMisuse)) {
      try await manager.setExposureNotificationEnabled(true)
    }
    await #expect(throws: ENError(.apiMisuse)) {
      let _: [ENTemporaryExposureKey] = try await manager.diagnosisKeys()
    }
    await #expect(throws: ENError(.apiMisuse)) {
      let _: [ENTemporaryExposureKey] = try await manager.testDiagnosisKeys()
    }
    await #expect(throws: ENError(.apiMisuse)) { try await manager.preAuthorizeDiagnosisKeys() }
    await #expect(throws: ENError(.apiMisuse)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    await #expect(throws: ENError(.apiMisuse)) {
      let _: Bool = try await manager.userTraveled()
    }
  }

  @Test("The progress of a detection can be cancelled or discarded")
  func progress() async {
    let progress: Progress = manager.detectExposures(
      configuration: ENExposureConfiguration(), diagnosisKeyURLs: []
    ) { _, _ in }
    progress.cancel()
    #expect(progress.isCancelled)
    manager.getExposureWindows(summary: ENExposureDetectionSummary()) { _, _ in }
    let own = Progress()
    #expect(own.totalUnitCount == 0 && !own.isCancelled)
  }

  @Test("The invalidation handler is called once; then activation fails in both forms")
  func invalidated() async {
    await withCheckedContinuation { done in
      manager.invalidationHandler = { done.resume() }
      manager.invalidate()
      manager.invalidate()
    }
    #expect(manager.invalidationHandler == nil)
    #expect(await reason(of: { done in manager.activate { done($0) } }) == .invalidated)
    await #expect(throws: ENError(.invalidated)) { try await manager.activate() }
  }

  @Test("Properties are observed by key path with all four options")
  func observed() {
    var changes: [(ENStatus?, ENStatus?, Bool)] = []
    let options: NSKeyValueObservingOptions = [.new, .old, .initial, .prior]
    #expect(options.rawValue == 15)
    let observation: NSKeyValueObservation = manager.observe(
      \.exposureNotificationStatus, options: options
    ) { (manager: ENManager, change: NSKeyValueObservedChange<ENStatus>) in
      #expect(change.kind == .setting && change.indexes == nil)
      changes.append((change.oldValue, change.newValue, change.isPrior))
    }
    #expect(changes.count == 1 && changes[0].0 == nil)
    #expect(changes[0].1 == .unknown && !changes[0].2)
    observation.invalidate()
    let enabled = manager.observe(\.exposureNotificationEnabled) { _, _ in }
    enabled.invalidate()
  }
}
