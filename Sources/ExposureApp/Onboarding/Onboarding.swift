// SPDX-License-Identifier: Apache-2.0
import ExposureNotification

extension ExposureApp {
  /// The current onboarding step.
  public var onboarding: OnboardingStep {
    if context.state.isOnboarded { return .finished }
    switch context.authorizationStatus() {
    case .unknown: return .askToEnable
    case .restricted: return .restricted
    case .notAuthorized: return .secondChance
    case .authorized: return .readyToFinish
    }
  }

  /// Turns exposure notifications on; the first time, the system asks the user.
  public func enable() async -> EnableOutcome {
    let outcome = await turnOn()
    if outcome.isOn {
      if context.state.isTurnedOff { context.store.updateIfPossible { $0.isTurnedOff = false } }
      context.noteAuthorization()
      scheduleNextCheck()
      await notices.updateStanding()
    }
    context.announce(.consentChanged)
    return outcome
  }

  private func turnOn() async -> EnableOutcome {
    do {
      try await context.framework.activate()
      try await context.framework.setEnabled(true)
      return context.framework.status == .bluetoothOff ? .bluetoothOff : .enabled
    } catch let error as ENError {
      switch error.code {
      case .notAuthorized: return .refused
      // They are enabled and start as soon as Bluetooth is on.
      case .bluetoothOff: return .bluetoothOff
      case .unsupported, .restricted, .notEntitled: return .unsupported
      case .insufficientStorage: return .diskFull
      default: return .failed
      }
    } catch { return .failed }
  }

  /// Turns exposure notifications off, until the user turns them on; received identifiers stay on the phone.
  public func disable() async throws {
    try await context.framework.activate()
    try await context.framework.setEnabled(false)
    try context.store.update { $0.isTurnedOff = true }
    await notices.updateStanding()
    context.announce(.consentChanged)
  }

  /// Records that the user has completed the onboarding.
  public func finishOnboarding() throws(StorageFailure) {
    try context.store.update { $0.isOnboarded = true }
    context.announce(.consentChanged)
  }

  /// The status of exposure notifications and Bluetooth.
  public var serviceStatus: ServiceStatus { context.serviceStatus }
}

/// The steps of the onboarding.
public enum OnboardingStep: String, Sendable, CaseIterable {
  /// The onboarding is complete.
  case finished
  /// The user has not been asked yet.
  case askToEnable
  /// The user refused; the app explains that only Settings can change that.
  case secondChance
  /// The user agreed; the remaining screens explain the app.
  case readyToFinish
  /// Exposure notifications are not allowed on this phone.
  case restricted
}

/// The result of turning exposure notifications on.
public enum EnableOutcome: String, Sendable, CaseIterable {
  /// They are on.
  case enabled
  /// They are on and start as soon as Bluetooth is on.
  case bluetoothOff
  /// The user refused. The system does not ask again, but the user can change the decision there.
  case refused
  /// This phone does not support them.
  case unsupported
  /// The decision could not be stored, because the disk is full; free some space, then retry.
  case diskFull
  /// Another error; retry.
  case failed

  /// True if exposure notifications are on.
  public var isOn: Bool { self == .enabled || self == .bluetoothOff }
}

/// The status of exposure notifications and Bluetooth.
public struct ServiceStatus: Sendable, Hashable {
  /// The status of exposure notifications, as the framework states it.
  public enum ExposureNotifications: String, Encodable, Sendable, CaseIterable {
    /// Beacons are sent and received.
    case on
    /// The user has not turned them on, or Bluetooth is off.
    case off
    /// They are not supported or not allowed on this phone.
    case restricted
  }

  /// The status of exposure notifications.
  public let exposureNotifications: ExposureNotifications
  /// True if Bluetooth is on, according to the framework.
  public let isBluetoothOn: Bool
}
