import Foundation

/// A property that is on the disk as JSON, and says when it changes.
@propertyWrapper
public final class Persisted<Value: Codable> {
  private let key: String
  private let storage: KeyValueStorage
  private var value: Value

  /// The property under `key`; `initialValue` until it is set for the first time.
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

  /// Calls `observer` after each change, on the queue that makes it, while the answer is held.
  public func observe(_ observer: @escaping () -> Void) -> NSObjectProtocol {
    NotificationCenter.default.addObserver(forName: changeNotice, object: self, queue: nil) { _ in
      observer()
    }
  }
}
