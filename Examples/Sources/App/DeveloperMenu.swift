// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// Actions for developers, to show every page of the app.
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
    store.checkError = Texts.simulatedError
  }

  /// Adds a simulated exposure: one to four days ago, five to 25 minutes long.
  public func simulateExposure() {
    let daysAgo = Double(Int.random(in: 1...4))
    let exposure = Exposure(
      date: notifications.now().addingTimeInterval(-daysAgo * 86_400),
      duration: TimeInterval(5 * 60 * Int.random(in: 1...5)),
      totalRiskScore: .random(in: 1...8), transmissionRiskLevel: .random(in: 0...7))
    store.checkState.exposures.append(exposure)
    store.checkState.removeOld(at: notifications.now())
  }

  /// Adds a simulated positive test, whose code the authority will refuse.
  public func simulatePositiveTest() {
    let test = TestResult(
      id: UUID(), code: "000000", dateAdministered: notifications.now(), isAdded: true)
    store.testResults[test.id] = test
  }

  /// Shares all keys including today's, which only a test build can, with the code of a positive test.
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

  /// Removes the error of the last check.
  public func resetCheckError() {
    store.checkError = nil
  }

  /// Removes the exposures and starts again with the first key file.
  public func resetExposures() {
    store.checkState = CheckState()
  }

  /// Removes the tests.
  public func resetTests() {
    store.testResults = [:]
  }
}
