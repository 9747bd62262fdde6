/// What a phone is connected by.
public enum NetworkConnection: Sendable {
  /// A network of the person's own: fast, and without a bill for every byte.
  case wifi
  /// A mobile operator's network.
  case mobile
}
