import ExposureNotification
import Foundation

/// Why a check did not end well. The cursor and the fetched files are as before; the next run goes
/// on.
public enum CheckFailure: String, Error, Codable, Sendable, CaseIterable, CustomStringConvertible {
  /// The person has not allowed exposure notifications: they can in Settings.
  case notAuthorized
  /// Exposure notifications are off: turn them on.
  case notEnabled
  /// The key server cannot be reached: the next run tries again.
  case noConnection
  /// The key server does not answer as it should: the next run tries again.
  case serverBusy
  /// Some files could not be obtained or were refused; the others have been analysed.
  case filesMissing
  /// The system took its time back: the next run goes on.
  case timeIsUp
  /// The framework has been asked too often today: the next run tries again.
  case rateLimited
  /// The files were analysed, but the framework has been asked for the encounters too often: the next
  /// run analyses them again.
  case windowsRateLimited
  /// The files were analysed, but the encounters could not be read: the next run analyses them again.
  case windowsFailed
  /// The disk is full: make room.
  case diskFull
  /// The app's store is not open.
  case storageUnavailable
  /// The framework could not analyse the files: the next run tries again.
  case detectionFailed

  public var description: String {
    switch self {
    case .notAuthorized: "Exposure notifications are not allowed; allow them in Settings."
    case .notEnabled: "Exposure notifications are off; turn them on."
    case .noConnection: "The server could not be reached; the app will try again by itself."
    case .serverBusy: "The server is busy; the app will try again by itself."
    case .filesMissing: "Some of the key files could not be checked; the app will try again."
    case .timeIsUp: "The check took too long and was stopped; the app will go on by itself."
    case .rateLimited: "Enough checks were made today; the app will go on tomorrow."
    case .windowsRateLimited:
      "The encounters were looked at often enough today; the app will go on tomorrow."
    case .windowsFailed: "The encounters could not be looked at; the app will try again by itself."
    case .diskFull: "The disk is full; make room so that the app can go on checking."
    case .storageUnavailable: "The app cannot open its storage; open the app to see what to do."
    case .detectionFailed: "The check did not succeed; the app will try again by itself."
    }
  }
}

extension CheckFailure {
  /// What an unexpected status means for a check.
  init(status: Int) { self = .serverBusy }

  /// What `error` means for a check.
  init(_ error: any Error) {
    switch error {
    case let failure as CheckFailure: self = failure
    case is CancellationError: self = .timeIsUp
    case let error as ENError: self.init(error)
    case let failure as NetworkFailure: self.init(failure)
    case StorageFailure.full: self = .diskFull
    case is StorageFailure: self = .storageUnavailable
    default: self = .detectionFailed
    }
  }

  /// What it means that `getExposureWindows` failed with `error`, after the detection succeeded.
  init(ofWindows error: any Error) {
    let failure = (error as? ENError).map { CheckFailure($0) } ?? .detectionFailed
    switch failure {
    case .rateLimited: self = .windowsRateLimited
    case .detectionFailed: self = .windowsFailed
    default: self = failure
    }
  }

  private init(_ error: ENError) {
    self =
      switch error.code {
      case .notAuthorized: .notAuthorized
      case .notEnabled: .notEnabled
      case .rateLimited: .rateLimited
      case .insufficientStorage: .diskFull
      default: .detectionFailed
      }
  }

  private init(_ failure: NetworkFailure) {
    self =
      switch failure {
      case .unreachable, .interrupted, .timedOut: .noConnection
      case .tooLarge: .serverBusy
      case .diskFull: .diskFull
      case .disk: .storageUnavailable
      }
  }
}
