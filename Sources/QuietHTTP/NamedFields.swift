/// A request that says which fields it has, so that others can be refused.
public protocol NamedFields {
  /// The names of all its fields on the wire.
  static var fieldNames: Set<String> { get }
}
