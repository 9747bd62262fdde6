import Foundation

/// Entering a positive test: its code, its day, and whether to warn others.
public final class TestEntry {
  /// Why an entry is refused.
  public enum Refusal: LocalizedError {
    case notACode
    case unknownCode
    case dayToCome

    public var errorDescription: String? {
      switch self {
      case .notACode: return "A code has six digits; look at your test result again."
      case .unknownCode: return "This code is not known or has been used; ask for a new one."
      case .dayToCome: return "The day of the test is still to come; correct it."
      }
    }
  }

  private let notifications: ExposureNotifications
  private let id = UUID()
  private var store: LocalStore { notifications.store }

  /// Begins; what is entered is kept at once, so that a phone that dies loses nothing.
  init(notifications: ExposureNotifications) {
    self.notifications = notifications
  }

  /// Takes the code, after the authority has agreed to it.
  public func enter(code: String, day: Date, completion: @escaping (Error?) -> Void) {
    guard code.utf8.count == 6, code.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return completion(Refusal.notACode)
    }
    guard day <= notifications.now() else { return completion(Refusal.dayToCome) }
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

  /// Shares the keys and ends the entry. Where the person says no to the system, or the network does,
  /// the test stays in the list as not shared, to be shared later.
  public func share(completion: @escaping (Error?) -> Void) {
    guard let test = store.testResults[id] else { return completion(Refusal.notACode) }
    store.testResults[id]?.isAdded = true
    notifications.share(test, completion: completion)
  }

  /// Ends the entry without sharing and forgets it.
  public func cancel() {
    store.testResults[id] = nil
  }
}
