import SealedStorage

extension ENError {
  /// What an app is told when the phone could not keep or read something.
  init(_ cause: SealedStorageError) {
    switch cause {
    case .full: self.init(.insufficientStorage)
    case .damaged, .disk: self.init(.dataInaccessible)
    }
  }
}
