/// What an observer is told of one change.
public struct NSKeyValueObservedChange<Value> {
  /// The value after the change, where `.new` was asked for.
  public let newValue: Value?
  /// The value before the change, where `.old` was asked for.
  public let oldValue: Value?
}
