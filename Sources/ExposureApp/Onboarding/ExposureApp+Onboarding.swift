import ExposureNotification

extension ExposureApp {
  /// Where the person stands in the first screens.
  public var onboarding: OnboardingStep {
    if store.state.isOnboarded { return .finished }
    switch authorizationStatus() {
    case .unknown: return .askToEnable
    case .restricted: return .restricted
    case .notAuthorized: return .secondChance
    case .authorized: return .readyToFinish
    }
  }

  /// Turns exposure notifications on; the first time, the system asks the person.
  public func enable() async -> EnableOutcome {
    do {
      try await activate()
      try await framework.setEnabled(true)
      scheduleNextCheck()
      return framework.status == .bluetoothOff ? .bluetoothOff : .enabled
    } catch let error as ENError {
      switch error.code {
      case .notAuthorized: return .refused
      case .bluetoothOff:
        // It is on, and sends as soon as Bluetooth is.
        scheduleNextCheck()
        return .bluetoothOff
      case .unsupported, .restricted, .notEntitled: return .unsupported
      default: return .failed
      }
    } catch {
      return .failed
    }
  }

  /// Turns exposure notifications off; what has been heard stays on the phone.
  public func disable() async throws {
    try await activate()
    try await framework.setEnabled(false)
  }

  /// The person has been through the first screens.
  public func finishOnboarding() throws(StorageFailure) {
    try store.update { $0.isOnboarded = true }
  }

  /// Whether encounters are noticed (bridge 51).
  public var serviceStatus: ServiceStatus {
    let status = framework.status
    let isBluetoothOn = status != .bluetoothOff
    guard authorizationStatus() == .authorized else {
      return ServiceStatus(exposureNotifications: .off, isBluetoothOn: isBluetoothOn)
    }
    switch status {
    case .active: return ServiceStatus(exposureNotifications: .on, isBluetoothOn: true)
    case .bluetoothOff, .disabled:
      return ServiceStatus(exposureNotifications: .off, isBluetoothOn: isBluetoothOn)
    default: return ServiceStatus(exposureNotifications: .restricted, isBluetoothOn: isBluetoothOn)
    }
  }
}
