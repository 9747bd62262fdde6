/// Why a body is not the one JSON object that a strict route takes. It names no text of the sender's.
public enum StrictJSONError: String, Error, Sendable, CaseIterable {
  /// Not JSON, or not UTF-8.
  case malformed
  /// A field that the route does not document.
  case unknownField
  /// A field twice in one object.
  case repeatedField
  /// A value of another type or size than its field takes.
  case wrongType
  /// More than one value.
  case moreThanOneValue
}

extension StrictJSONError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "The body is not JSON."
    case .unknownField: "The body has a field that this route does not know."
    case .repeatedField: "The body has a field twice."
    case .wrongType: "A field of the body has a value of the wrong type."
    case .moreThanOneValue: "The body must be one JSON object and nothing after it."
    }
  }
}
