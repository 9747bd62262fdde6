// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

extension ENManager {
  /// Calls `changeHandler` on `dispatchQueue` after each change of the value at `keyPath`, until the
  /// returned observation is released. As on Apple's systems, only the status and
  /// `exposureNotificationEnabled` can be observed.
  ///
  /// With `.prior` there is an extra call without the new value first; both calls come after the change.
  public func observe<Value: Equatable & SendableMetatype>(
    _ keyPath: KeyPath<ENManager, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (ENManager, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    // Called here and then on the manager's queue only.
    nonisolated(unsafe) let observer = ValueObserver(
      of: self, keyPath: keyPath, options: options, changeHandler: changeHandler)
    if options.contains(.initial) { observer.reportInitialValue() }
    let (changes, queue) = (lifecycle.changes, dispatchQueue)
    let id = changes.add { queue.async { observer.reportChange() } }
    return NSKeyValueObservation { changes.remove(id) }
  }
}

private final class ValueObserver<Value: Equatable & SendableMetatype> {
  private weak var manager: ENManager?
  private let keyPath: KeyPath<ENManager, Value>
  private let options: NSKeyValueObservingOptions
  private let changeHandler: (ENManager, NSKeyValueObservedChange<Value>) -> Void
  private var last: Value

  init(
    of manager: ENManager, keyPath: KeyPath<ENManager, Value>,
    options: NSKeyValueObservingOptions,
    changeHandler: @escaping (ENManager, NSKeyValueObservedChange<Value>) -> Void
  ) {
    self.manager = manager
    self.keyPath = keyPath
    self.options = options
    self.changeHandler = changeHandler
    last = manager[keyPath: keyPath]
  }

  func reportInitialValue() {
    guard let manager else { return }
    changeHandler(manager, change(from: nil, to: last))
  }

  func reportChange() {
    guard let manager else { return }
    let (old, new) = (last, manager[keyPath: keyPath])
    guard new != old else { return }
    last = new
    if options.contains(.prior) {
      changeHandler(manager, change(from: old, to: nil, isPrior: true))
    }
    changeHandler(manager, change(from: old, to: new))
  }

  private func change(
    from old: Value?, to new: Value?, isPrior: Bool = false
  ) -> NSKeyValueObservedChange<Value> {
    NSKeyValueObservedChange(
      newValue: options.contains(.new) ? new : nil, oldValue: options.contains(.old) ? old : nil,
      isPrior: isPrior)
  }
}

/// An observation, which ends when this object is released. Foundation on Linux has no such class.
public final class NSKeyValueObservation: NSObject, Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  init(end: @escaping @Sendable () -> Void) {
    self.end = Mutex(end)
  }

  deinit {
    invalidate()
  }

  /// Ends the observation. Later calls have no effect.
  public func invalidate() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}

/// One change, as an observer receives it.
public struct NSKeyValueObservedChange<Value> {
  /// The kind of change.
  public typealias Kind = NSKeyValueChange

  /// The kind of change, always `.setting`.
  public let kind: Kind
  /// The value after the change, with the option `.new`.
  public let newValue: Value?
  /// The value before the change, with the option `.old`.
  public let oldValue: Value?
  /// The changed elements: nil, because the framework's properties are not collections.
  public let indexes: IndexSet?
  /// True in the extra call before the one with the new value, with the option `.prior`.
  public let isPrior: Bool

  init(kind: Kind = .setting, newValue: Value?, oldValue: Value?, isPrior: Bool = false) {
    self.kind = kind
    self.newValue = newValue
    self.oldValue = oldValue
    indexes = nil
    self.isPrior = isPrior
  }
}

/// The options of an observation, with Apple's numbers.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// The bits of the options.
  public let rawValue: UInt

  /// The options whose bits are set.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The value after the change.
  public static let new = NSKeyValueObservingOptions(rawValue: 1 << 0)
  /// The value before the change.
  public static let old = NSKeyValueObservingOptions(rawValue: 1 << 1)
  /// A first call at once with the current value.
  public static let initial = NSKeyValueObservingOptions(rawValue: 1 << 2)
  /// An extra call for each change, before the one with the new value.
  public static let prior = NSKeyValueObservingOptions(rawValue: 1 << 3)
}

/// The kinds of change, with Apple's numbers.
public enum NSKeyValueChange: UInt, Sendable {
  /// The value was set. The framework's properties have only this kind of change.
  case setting = 1
  /// Elements were added to a collection.
  case insertion = 2
  /// Elements were removed from a collection.
  case removal = 3
  /// Elements of a collection were replaced.
  case replacement = 4
}

extension Progress {
  /// A progress without work. Foundation on Linux does not have Apple's `Progress()`.
  public convenience init(withNothingToDo: Void = ()) {
    self.init(totalUnitCount: 0)
  }
}
