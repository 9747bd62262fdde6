/// What kind of change an observer is told of, with Apple's numbers.
public enum NSKeyValueChange: UInt, Sendable {
  /// The value was set: the only kind that the framework's properties know.
  case setting = 1
  /// Something came into a collection.
  case insertion = 2
  /// Something left a collection.
  case removal = 3
  /// Something in a collection made room for something else.
  case replacement = 4
}
