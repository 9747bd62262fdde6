import Foundation

/// What an observer is told of one change.
public struct NSKeyValueObservedChange<Value> {
  /// Apple's name of the kind.
  public typealias Kind = NSKeyValueChange

  /// What kind of change it is: always `.setting`.
  public let kind: Kind
  /// The value after the change, where `.new` was asked for.
  public let newValue: Value?
  /// The value before the change, where `.old` was asked for.
  public let oldValue: Value?
  /// Which elements changed: nil, since the framework's properties are no collections.
  public let indexes: IndexSet?
  /// Whether this is the call before the one with the new value, where `.prior` was asked for.
  public let isPrior: Bool

  init(kind: Kind = .setting, newValue: Value?, oldValue: Value?, isPrior: Bool = false) {
    self.kind = kind
    self.newValue = newValue
    self.oldValue = oldValue
    indexes = nil
    self.isPrior = isPrior
  }
}
