// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// The app's use of the framework: status, checks and the user's own keys. All calls are on the main queue.
public final class ExposureNotifications {
  /// Posted when the user has answered the system's dialog.
  public static let authorizationDidChange = Notification.Name(
    "ExposureNotifications.authorizationDidChange")

  let manager = ENManager()
  let store: LocalStore
  let authority: HealthAuthority
  let now: () -> Date
  /// The running check; a second one at the same time would count every key twice.
  var running: Detection?
  private var statusObservation: NSKeyValueObservation?

  /// Creates a manager, which `activate` makes ready.
  init(store: LocalStore, authority: HealthAuthority, now: @escaping () -> Date) {
    self.store = store
    self.authority = authority
    self.now = now
  }

  deinit {
    manager.invalidate()
  }

  /// The authorization by the user.
  public var authorization: ENAuthorizationStatus { ENManager.authorizationStatus }

  /// The status of the framework.
  public var status: ENStatus { manager.exposureNotificationStatus }

  /// Activates the framework. If the user has authorized it in the settings since, it is turned on.
  func activate(completion: @escaping (Error?) -> Void) {
    manager.activate { [self] error in
      guard error == nil, authorization == .authorized, !manager.exposureNotificationEnabled
      else { return completion(error) }
      turn(on: true, completion)
    }
  }

  /// Calls `observer` when the status changes.
  func observeStatus(_ observer: @escaping (ENStatus) -> Void) {
    statusObservation = manager.observe(\.exposureNotificationStatus, options: [.new]) {
      _, change in
      if let status = change.newValue { observer(status) }
    }
  }

  /// Turns exposure notification on or off; the system asks the user the first time.
  public func setEnabled(_ isEnabled: Bool, completion: @escaping (Error?) -> Void) {
    turn(on: isEnabled) { error in
      NotificationCenter.default.post(name: Self.authorizationDidChange, object: nil)
      completion(error)
    }
  }

  /// Without Bluetooth it is on as well, so `bluetoothOff` is not an error here.
  private func turn(on isEnabled: Bool, _ completion: @escaping (Error?) -> Void) {
    manager.setExposureNotificationEnabled(isEnabled) { error in
      let isOnWithoutBluetooth = (error as? ENError)?.code == .bluetoothOff
      completion(isOnWithoutBluetooth ? nil : error)
    }
  }
}

extension ExposureNotifications {
  /// Checks the new key files; `completion` receives the number of new exposures.
  ///
  /// Cancelling the progress stops the check without a result.
  @discardableResult
  public func check(completion: @escaping (Result<Int, Error>) -> Void) -> Progress {
    guard running == nil else {
      DispatchQueue.main.async { completion(.failure(CancellationError())) }
      return Progress()
    }
    let detection = Detection(
      manager: manager, authority: authority, from: store.checkState.nextKeyFile)
    running = detection
    detection.run { [self] result in
      running = nil
      store(result)
      completion(result.map(\.exposures.count))
    }
    return detection.progress
  }

  private func store(_ result: Result<Detection.Outcome, Error>) {
    switch result {
    case .success(let found):
      store.checkState.take(found.exposures, nextKeyFile: found.nextKeyFile, at: now())
      store.checkError = nil
    case .failure(let error) where error is CancellationError:
      // The cancelling code reports the reason.
      break
    case .failure(let error):
      store.checkError = error.localizedDescription
    }
  }
}

extension ExposureNotifications {
  /// Uploads the user's keys with the code of `test`; the system asks the user first, unless the same upload
  /// was begun before.
  public func shareKeys(for test: TestResult, completion: @escaping (Error?) -> Void) {
    if let keys = test.keys {
      return authority.post(keys, code: test.code, completion: completion)
    }
    manager.getDiagnosisKeys { [self] keys, error in
      guard let keys else { return completion(error ?? ENError(.unknown)) }
      post(keys, for: test, completion: completion)
    }
  }

  func post(
    _ keys: [ENTemporaryExposureKey], for test: TestResult, completion: @escaping (Error?) -> Void
  ) {
    for key in keys { key.transmissionRiskLevel = Self.riskLevel(of: key, for: test) }
    let published = keys.map(PublishedKey.init)
    // Stored before the request: a repeated one must have the same keys.
    store.testResults[test.id]?.keys = published
    authority.post(published, code: test.code, completion: completion)
  }

  /// The transmission risk level: higher for days near the test.
  static func riskLevel(of key: ENTemporaryExposureKey, for test: TestResult) -> ENRiskLevel {
    let day = Date(timeIntervalSince1970: Double(key.rollingStartNumber) * 600)
    switch abs(day.timeIntervalSince(test.dateAdministered)) / 86_400 {
    case ..<3: return 6
    case ..<6: return 4
    default: return 2
    }
  }
}
