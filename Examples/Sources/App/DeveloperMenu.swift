import ExposureNotification
import Foundation

/// What a developer may do to see every page of the app.
public final class DeveloperMenu {
  private let notifications: ExposureNotifications
  private var store: LocalStore { notifications.store }

  init(notifications: ExposureNotifications) {
    self.notifications = notifications
  }

  /// Shows the onboarding at the next launch.
  public func resetOnboarding() {
    store.isOnboarded = false
  }

  /// Shows a failed check.
  public func simulateCheckError() {
    store.checkError = Words.simulatedError
  }

  /// Adds an exposure that never was: one to four days ago, five to 25 minutes long.
  public func simulateExposure() {
    let daysAgo = Double(Int.random(in: 1...4))
    let exposure = Exposure(
      date: notifications.now().addingTimeInterval(-daysAgo * 86_400),
      duration: TimeInterval(5 * 60 * Int.random(in: 1...5)),
      totalRiskScore: .random(in: 1...8), transmissionRiskLevel: .random(in: 0...7))
    store.findings.exposures.append(exposure)
    store.findings.forgetOld(at: notifications.now())
  }

  /// Adds a positive test that never was. The authority will refuse its code.
  public func simulatePositiveTest() {
    let test = TestResult(
      id: UUID(), code: "000000", dateAdministered: notifications.now(), isAdded: true)
    store.testResults[test.id] = test
  }

  /// Shares today's keys as well, as only a test build may, with a code for a positive test.
  public func shareTestKeys(code: String, completion: @escaping (Error?) -> Void) {
    let test = TestResult(id: UUID(), code: code, dateAdministered: notifications.now())
    notifications.manager.getTestDiagnosisKeys { [notifications] keys, error in
      guard let keys else { return completion(error ?? ENError(.unknown)) }
      notifications.post(keys, for: test, completion: completion)
    }
  }

  /// Switches exposure notification off.
  public func disable(completion: @escaping (Error?) -> Void) {
    notifications.setEnabled(false, completion: completion)
  }

  /// Forgets that a check failed.
  public func resetCheckError() {
    store.checkError = nil
  }

  /// Forgets the exposures and begins with the first key file again.
  public func resetExposures() {
    store.findings = Findings()
  }

  /// Forgets the tests.
  public func resetTests() {
    store.testResults = [:]
  }
}
