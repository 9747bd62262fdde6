/// What an observer wants to be told, with Apple's numbers.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// One bit each.
  public let rawValue: UInt

  /// These bits.
  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The value after the change.
  public static let new = NSKeyValueObservingOptions(rawValue: 1 << 0)
  /// The value before the change.
  public static let old = NSKeyValueObservingOptions(rawValue: 1 << 1)
  /// A first call at once, with the value as it is.
  public static let initial = NSKeyValueObservingOptions(rawValue: 1 << 2)
  /// A call more for each change, before the one with the new value.
  public static let prior = NSKeyValueObservingOptions(rawValue: 1 << 3)
}
