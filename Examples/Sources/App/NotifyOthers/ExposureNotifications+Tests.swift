import Foundation

// The tests in the list.
extension ExposureNotifications {
  /// Those that were entered to the end, newest first.
  public var addedTests: [TestResult] {
    store.testResults.values.filter(\.isAdded).sorted {
      $0.dateAdministered > $1.dateAdministered
    }
  }

  /// Shares the keys for `test`, and notes it.
  public func share(_ test: TestResult, completion: @escaping (Error?) -> Void) {
    shareKeys(for: test) { [self] error in
      if error == nil { store.testResults[test.id]?.isShared = true }
      completion(error)
    }
  }

  /// Takes `test` off the list. Keys that were shared stay shared.
  public func delete(_ test: TestResult) {
    store.testResults[test.id] = nil
  }
}
