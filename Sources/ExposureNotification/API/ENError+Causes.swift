import DiagnosisKeyFile
import Foundation
import SealedStorage

extension ENError {
  /// What an app is told when the phone could not keep or read something.
  init(_ cause: SealedStorageError) {
    switch cause {
    case .full, .tooLarge: self.init(.insufficientStorage)
    case .damaged, .disk: self.init(.dataInaccessible)
    }
  }

  /// What an app is told when a key file was refused.
  init(_ cause: KeyFileError) {
    switch cause {
    case .diskFull: self.init(.insufficientStorage)
    default: self.init(.badFormat, explanation: cause.description)
    }
  }

  /// The error that an app is given for `error`. A cancelled detection ends with Foundation's
  /// `CocoaError.userCancelled`, since Apple has no number for it; what is none of our errors, such as
  /// one of the device's own parts, is unknown to an app.
  static func reason(for error: any Error) -> any Error {
    switch error {
    case let error as ENError: error
    case let error as SealedStorageError: ENError(error)
    case is CancellationError: CocoaError(.userCancelled)
    default: ENError(.unknown)
    }
  }
}
