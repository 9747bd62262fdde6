// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A JSON value, for messages whose fields pages write in several forms.
///
/// An absent value of an answer is `null`: pages find every promised field.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Parses `text`; `nil` if it is not JSON.
  package init?(_ text: String) {
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else {
      return nil
    }
    self = value
  }

  /// The JSON of `value`; `null` if it cannot be encoded.
  package init(encoding value: some Encodable) {
    let json = (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) }
    self = json.flatMap { JSONValue($0) } ?? .null
  }

  /// The JSON text, with sorted fields.
  package var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding fails for infinite numbers only, and answers have none.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
  }

  /// The field `name` of an object.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let fields) = self else { return nil }
    return fields[name]
  }
}

// MARK: Values in the forms that pages write

extension JSONValue {
  /// A whole number, also as text.
  var asInteger: Int? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int(exactly: value)
    case .string(let text): Int(text)
    default: nil
    }
  }

  /// A truth value, also as text or as 0 and 1.
  var asBool: Bool? {
    switch self {
    case .bool(let value): value
    case .string("true"), .integer(1): true
    case .string("false"), .integer(0): false
    default: nil
    }
  }

  /// A text.
  var asString: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// A list of row identifiers, which are texts or numbers.
  var asIdentifiers: [String]? {
    guard case .array(let values) = self else { return nil }
    return values.compactMap { $0.asString ?? $0.asInteger.map(String.init) }
  }
}

// MARK: Making answers

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByStringLiteral
{
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { $1 })
  }

  package init(booleanLiteral value: Bool) { self = .bool(value) }

  package init(integerLiteral value: Int) { self = .integer(value) }

  package init(stringLiteral value: String) { self = .string(value) }

  /// The number, or `null`.
  init(_ value: Int?) { self = value.map(JSONValue.integer) ?? .null }

  /// The text, or `null`.
  init(optional value: String?) { self = value.map(JSONValue.string) ?? .null }
}

extension JSONValue: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // The most frequent types come first, because a mismatch throws an error, which is slow.
    if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode([String: JSONValue].self) {
      self = .object(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else {
      self = .bool(try container.decode(Bool.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
