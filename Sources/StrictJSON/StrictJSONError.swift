// SPDX-License-Identifier: Apache-2.0
/// The reason why a body is not the JSON object that a strict route expects.
///
/// It never quotes the body.
public enum StrictJSONError: String, Error, Sendable, CaseIterable {
  /// The bytes are not JSON, or not UTF-8.
  case malformed
  /// An object has a field that the route does not document.
  case unknownField
  /// An object has a field twice.
  case repeatedField
  /// A value has another type or size than its field.
  case wrongType
  /// Something follows the value.
  case moreThanOneValue
  /// The body has more values or escape sequences than a request needs.
  case tooManyParts
}

extension StrictJSONError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "The body is not JSON."
    case .unknownField: "The body has a field that this route does not know."
    case .repeatedField: "The body has a field twice."
    case .wrongType: "A field of the body has a value of the wrong type."
    case .moreThanOneValue: "The body must be one JSON object and nothing after it."
    case .tooManyParts: "The body has too many values or escape sequences."
    }
  }
}
