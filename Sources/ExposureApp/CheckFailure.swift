// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// The reason why a check was not complete. Files that were analysed are not analysed again; the next run continues
/// with the others.
public enum CheckFailure: String, Error, Codable, Sendable, CaseIterable {
  /// The user has not allowed exposure notifications.
  case notAuthorized
  /// There is no valid device configuration, or none was accepted for two days; `configurationRefusal` gives the
  /// reason. The next run retries.
  case notConfigured
  /// Exposure notifications are off; turn them on.
  case notEnabled
  /// The key server is unreachable; the next run retries.
  case noConnection
  /// The certificate of the key server is not valid for its name, or it offers no TLS 1.2; the next run retries.
  case certificate
  /// By the phone's clock, the certificate of the key server is not valid yet or has expired: probably the clock is
  /// wrong; the next run retries.
  case certificateOutOfDate
  /// A network answered with a page of its own, on which it asks for a sign-in; the next run retries.
  case portal
  /// The key server has no such document; the next run retries.
  case notFound
  /// A document of the key server is larger than allowed; the next run retries.
  case tooLarge
  /// The key server returned an error or an invalid response; the next run retries.
  case serverBusy
  /// The list of key files is not readable, for example because a network asks for a sign-in first.
  case invalidIndex
  /// The phone's clock differs from the server's time by more than `ClockRule.differenceSecondsMax`, or the
  /// server, which states no time, lists files of the phone's future.
  case clockWrong
  /// The server has listed no file of the last fourteen days.
  case noKeyFiles
  /// Some files were not downloaded or were rejected; the others have been analysed.
  case filesMissing
  /// The background time expired; the next run continues.
  case timeIsUp
  /// The framework's daily quota is used up; a later run retries.
  case rateLimited
  /// The files were analysed, but the quota for exposure windows is used up. The next run analyses
  /// them again.
  case windowsRateLimited
  /// The files were analysed, but the exposure windows could not be read. The next run analyses them again.
  case windowsFailed
  /// The disk is full; free some space.
  case diskFull
  /// The app may not write to its folder; correct the folder's permissions.
  case notPermitted
  /// The disk returned an error; the next run retries.
  case diskFailed
  /// The app's store is not open.
  case storageUnavailable
  /// The system did not respond in time; the next run retries.
  case systemSilent
  /// The system's data cannot be read.
  case systemUnreadable
  /// The framework could not analyse the files; the next run retries.
  case detectionFailed
  /// The user removed data while the check ran; the next run starts from the beginning.
  case dataRemoved
}

extension CheckFailure {
  /// True if encounters cannot be found although the server answers.
  var hidesEncounters: Bool { [.clockWrong, .noKeyFiles, .notConfigured].contains(self) }

  /// The failure for an unexpected HTTP status.
  init(status: Int) {
    self =
      switch status {
      // 511: Network Authentication Required. Our servers redirect nothing.
      case 300..<400, 511: .portal
      case 404, 410: .notFound
      case 413: .tooLarge
      default: .serverBusy
      }
  }

  /// Maps any error of a check to a failure.
  init(_ error: any Error) {
    switch error {
    case let failure as CheckFailure: self = failure
    case is CancellationError: self = .timeIsUp
    case let error as ENError: self.init(error)
    case let failure as NetworkFailure: self.init(failure)
    case let failure as StorageFailure: self.init(failure)
    case is FrameworkTimeout: self = .systemSilent
    default: self = .detectionFailed
    }
  }

  /// Maps an error of `getExposureWindows`, which is called after a successful detection.
  init(ofWindows error: any Error) {
    let failure = error is CancellationError ? .timeIsUp : CheckFailure(error)
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
      case .dataInaccessible: .systemUnreadable
      default: .detectionFailed
      }
  }

  private init(_ failure: StorageFailure) {
    self =
      switch failure {
      case .full: .diskFull
      case .notPermitted: .notPermitted
      case .disk: .diskFailed
      case .notReady: .storageUnavailable
      }
  }

  private init(_ failure: NetworkFailure) {
    self =
      switch failure {
      case .unreachable, .interrupted, .timedOut: .noConnection
      case .certificate: .certificate
      case .certificateOutOfDate: .certificateOutOfDate
      case .tooLarge: .tooLarge
      case .diskFull: .diskFull
      case .notPermitted: .notPermitted
      case .disk: .diskFailed
      }
  }
}
