// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The entry of a positive test: its code, its day, and the choice to warn others.
public final class TestEntry {
  /// The reason why an entry is rejected.
  public enum Refusal: LocalizedError {
    case notACode
    case unknownCode
    case dayToCome

    public var errorDescription: String? {
      switch self {
      case .notACode: return "A code has six digits or capital letters; check your test result."
      case .unknownCode: return "This code is not known or has been used; ask for a new one."
      case .dayToCome: return "The day of the test is in the future; correct it."
      }
    }
  }

  private let notifications: ExposureNotifications
  private var id = UUID()
  private var store: LocalStore { notifications.store }

  /// Starts an entry. All input is stored at once.
  init(notifications: ExposureNotifications) {
    self.notifications = notifications
  }

  /// Verifies the code with the authority and stores the test.
  public func enter(code: String, day: Date, completion: @escaping (Error?) -> Void) {
    guard code.range(of: "^[0-9A-Z]{6}$", options: .regularExpression) != nil else {
      return completion(Refusal.notACode)
    }
    guard day <= notifications.now() else { return completion(Refusal.dayToCome) }
    // The app may have been closed after this code was used: the entry continues.
    if let known = store.testResults.values.first(where: { $0.code == code }) {
      id = known.id
      return completion(nil)
    }
    notifications.authority.verify(code: code) { [self] result in
      switch result {
      case .success(true):
        store.testResults[id] = TestResult(id: id, code: code, dateAdministered: day)
        completion(nil)
      case .success(false): completion(Refusal.unknownCode)
      case .failure(let error): completion(error)
      }
    }
  }

  /// Shares the keys and completes the entry. If that fails, the test stays in the list and can be shared
  /// later.
  public func share(completion: @escaping (Error?) -> Void) {
    guard let test = store.testResults[id] else { return completion(Refusal.notACode) }
    store.testResults[id]?.isAdded = true
    notifications.share(test, completion: completion)
  }

  /// Cancels the entry and removes the test.
  public func cancel() {
    store.testResults[id] = nil
  }
}

extension ExposureNotifications {
  /// The completed tests, newest first.
  public var addedTests: [TestResult] {
    store.testResults.values.filter(\.isAdded).sorted {
      $0.dateAdministered > $1.dateAdministered
    }
  }

  /// Shares the keys for `test` and records it. If the app is closed in between, the same keys are shared
  /// again, and the server gives the same response.
  public func share(_ test: TestResult, completion: @escaping (Error?) -> Void) {
    guard !test.isShared else { return completion(nil) }
    shareKeys(for: test) { [self] error in
      if error == nil {
        store.testResults[test.id]?.isShared = true
        store.testResults[test.id]?.keys = nil
      }
      completion(error)
    }
  }

  /// Removes `test` from the list; shared keys stay shared.
  public func delete(_ test: TestResult) {
    store.testResults[test.id] = nil
  }
}
