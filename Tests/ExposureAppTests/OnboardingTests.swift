// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Testing

@testable import ExposureApp

@Suite("Onboarding") struct OnboardingTests {
  @Test(
    "The onboarding step follows the authorization status",
    arguments: [
      (ENAuthorizationStatus.unknown, OnboardingStep.askToEnable),
      (.notAuthorized, .secondChance), (.authorized, .readyToFinish), (.restricted, .restricted),
    ])
  func steps(status: ENAuthorizationStatus, step: OnboardingStep) async throws {
    let phone = try TestApp()
    phone.script.update { $0.authorization = status }
    let app = try phone.launch()
    #expect(await app.onboarding == step)
    try await app.finishOnboarding()
    #expect(await app.onboarding == .finished)
  }

  @Test("Enabling returns the outcome and schedules a check only if notifications are on")
  func enabling() async throws {
    let outcomes: [(ENError.Code?, EnableOutcome)] = [
      (nil, .enabled), (.notAuthorized, .refused), (.unsupported, .unsupported),
      (.internal, .failed), (.bluetoothOff, .bluetoothOff),
    ]
    for (error, outcome) in outcomes {
      let phone = try TestApp()
      phone.script.update {
        $0.isEnabled = false
        $0.enableError = error
      }
      let app = try phone.launch()
      #expect(await app.enable() == outcome)
      let isOn = outcome == .enabled || outcome == .bluetoothOff
      #expect(phone.script.state.isEnabled == isOn)
      #expect(phone.scheduler.requests.isEmpty == !isOn)
    }
  }

  @Test("Authorization granted later enables exposure notifications at the next launch")
  func allowedLater() async throws {
    let phone = try TestApp()
    phone.script.update { $0.isEnabled = false }
    try await phone.launch().start()
    #expect(phone.script.state.isEnabled)
    phone.script.update {
      $0.isEnabled = false
      $0.authorization = .notAuthorized
    }
    try await phone.launch().start()
    #expect(!phone.script.state.isEnabled)
  }

  @Test(
    "The service status combines the framework's status and Bluetooth",
    arguments: [
      (ENStatus.active, ServiceStatus.ExposureNotifications.on, true),
      (.bluetoothOff, .off, false), (.disabled, .off, true), (.restricted, .restricted, true),
      (.unknown, .restricted, true),
    ])
  func status(
    status: ENStatus, expected: ServiceStatus.ExposureNotifications, isBluetoothOn: Bool
  ) async throws {
    let phone = try TestApp()
    phone.script.update { $0.status = status }
    let app = try phone.launch()
    #expect(
      await app.serviceStatus
        == ServiceStatus(exposureNotifications: expected, isBluetoothOn: isBluetoothOn))
  }
}
