import Dispatch
import Foundation

extension ENManager {
  /// Calls `changeHandler` on `dispatchQueue` after each change of the value at `keyPath`, for as long
  /// as the answer is held. Meant for the status and whether it is enabled, as on Apple's systems.
  ///
  /// With `.prior` there is a call without the new value first; both come after the change, since a
  /// phone tells of its state when it is so.
  public func observe<Value: Equatable & SendableMetatype>(
    _ keyPath: KeyPath<ENManager, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (ENManager, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let observer = Handoff(
      ValueObserver(
        of: self, keyPath: keyPath, options: options, changeHandler: changeHandler))
    if options.contains(.initial) { observer.value.tellFirst() }
    let (changes, queue) = (life.changes, dispatchQueue)
    let id = changes.add { queue.async { observer.value.tellIfChanged() } }
    return NSKeyValueObservation { changes.remove(id) }
  }
}

/// One observer of one value; used on the manager's queue only.
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

  func tellFirst() {
    guard let manager else { return }
    changeHandler(manager, change(from: nil, to: last))
  }

  func tellIfChanged() {
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
