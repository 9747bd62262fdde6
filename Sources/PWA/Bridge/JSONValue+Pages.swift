// SPDX-License-Identifier: Apache-2.0
import TextEncodings

// MARK: Values in the forms that pages write

extension JSONValue {
  /// A whole number, also as text.
  var asInteger: Int? { integer ?? string.flatMap { Int($0) } }

  /// A truth value, also as text or as 0 and 1.
  var asBool: Bool? {
    switch self {
    case .bool(let value): value
    case "true", 1: true
    case "false", 0: false
    default: nil
    }
  }

  /// A list of row identifiers, which are texts or numbers.
  var asIdentifiers: [String]? {
    guard case .array(let values) = self else { return nil }
    return values.compactMap { $0.string ?? $0.integer.map(String.init) }
  }
}
