// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The app's persistent values, which never leave the phone.
public final class LocalStore {
  /// True if the user has completed the onboarding.
  @Persisted public var isOnboarded: Bool
  /// The results of the checks.
  @Persisted public var checkState: CheckState
  /// The error of the last check, as the user reads it; `nil` after a success.
  @Persisted public var checkError: String?
  /// The user's tests.
  @Persisted public var testResults: [UUID: TestResult]

  /// Opens the store.
  public init(in storage: KeyValueStorage) {
    _isOnboarded = Persisted(wrappedValue: false, "isOnboarded", in: storage)
    _checkState = Persisted(wrappedValue: CheckState(), "findings", in: storage)
    _checkError = Persisted(wrappedValue: nil, "checkError", in: storage)
    _testResults = Persisted(wrappedValue: [:], "testResults", in: storage)
  }
}

/// The results of the checks and the position of the next one.
///
/// They are one value and are written together, so that a crash never duplicates or loses an exposure.
public struct CheckState: Codable, Equatable {
  /// The retention of an exposure, in days.
  public static let retentionDays = 14

  /// The exposures, newest first.
  public var exposures: [Exposure] = []
  /// The number of the first unchecked key file.
  public var nextKeyFile = 1
  /// The time of the last successful check.
  public var lastCheck: Date?

  /// Adds the exposures of a check of all files before `nextKeyFile`, and removes old ones.
  mutating func take(_ found: [Exposure], nextKeyFile: Int, at now: Date) {
    exposures.append(contentsOf: found)
    self.nextKeyFile = nextKeyFile
    lastCheck = now
    removeOld(at: now)
  }

  /// Removes exposures older than the retention.
  mutating func removeOld(at now: Date) {
    let first = now.addingTimeInterval(-Double(Self.retentionDays) * 86_400)
    exposures.removeAll { $0.date < first }
    exposures.sort { $0.date > $1.date }
  }
}

/// An exposure in the list.
public struct Exposure: Codable, Equatable {
  /// The day, at midnight UTC.
  public let date: Date
  /// The duration, in seconds.
  public let duration: TimeInterval
  /// The score, 0 to 255.
  public let totalRiskScore: UInt8
  /// The transmission risk level of the diagnosed user's key, 0 to 7.
  public let transmissionRiskLevel: UInt8
}

/// A positive test of the user.
public struct TestResult: Codable, Equatable {
  /// The ID of the test.
  public let id: UUID
  /// The code for one upload.
  public var code: String
  /// The date of the test.
  public var dateAdministered: Date
  /// True if the user has completed the entry.
  public var isAdded = false
  /// True if the keys were shared.
  public var isShared = false
  /// The keys of an upload that has no response yet.
  var keys: [PublishedKey]?
}

/// A property that is stored as JSON and posts its changes.
@propertyWrapper
public final class Persisted<Value: Codable> {
  private let key: String
  private let storage: KeyValueStorage
  private var value: Value

  /// Reads the value under `key`, or uses `initialValue`.
  init(wrappedValue initialValue: Value, _ key: String, in storage: KeyValueStorage) {
    self.key = key
    self.storage = storage
    let stored = storage.data(forKey: key)
    value = stored.flatMap { try? JSONDecoder().decode(Value.self, from: $0) } ?? initialValue
  }

  public var wrappedValue: Value {
    get { value }
    set {
      value = newValue
      if let data = try? JSONEncoder().encode(newValue) { storage.set(data, forKey: key) }
      NotificationCenter.default.post(name: changeNotice, object: self)
    }
  }

  public var projectedValue: Persisted { self }

  /// Posted after each change.
  public var changeNotice: Notification.Name { Notification.Name("LocalStore.\(key).didChange") }

  /// Calls `observer` after each change, on the queue of the change.
  public func observe(_ observer: @escaping () -> Void) -> NSObjectProtocol {
    NotificationCenter.default.addObserver(forName: changeNotice, object: self, queue: nil) { _ in
      observer()
    }
  }
}

/// The storage of the app: `UserDefaults` on Apple's systems, encrypted files here.
public protocol KeyValueStorage: AnyObject {
  /// The value under `key`, or `nil`.
  func data(forKey key: String) -> Data?

  /// Replaces the value under `key`; an implementation reports its errors to the user.
  func set(_ data: Data, forKey key: String)
}
