// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A JSON value of any type (RFC 8259).
///
/// Numbers are those of JavaScript, 64-bit floating point; whole ones are written without a fraction.
public enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// A whole number.
  public static func integer(_ value: Int) -> JSONValue { .number(Double(value)) }
}

// MARK: Reading

extension JSONValue {
  /// Parses `text`; `nil` if it is not JSON.
  public init?(text: String) { self.init(json: Data(text.utf8)) }

  /// Parses `json`; `nil` if it is not JSON.
  public init?(json: Data) {
    do {
      self = try JSONDecoder().decode(JSONValue.self, from: json)
    } catch {
      return nil
    }
  }

  /// The JSON of `value`.
  ///
  /// - Throws: The error of the encoder.
  public init(encoding value: some Encodable) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
  }

  /// Decodes a value from this JSON.
  ///
  /// - Throws: The error of the decoder.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: JSONEncoder().encode(self))
  }

  /// The field `name` of an object.
  public subscript(_ name: String) -> JSONValue? { fields[name] }

  /// The string; `nil` for other values.
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  /// The number; `nil` for other values.
  public var number: Double? { if case .number(let value) = self { value } else { nil } }

  /// The number if it is whole; `nil` for other values.
  public var integer: Int? { number.flatMap { Int(exactly: $0) } }

  /// The Boolean; `nil` for other values.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The elements of an array; empty for other values.
  public var elements: [JSONValue] { if case .array(let value) = self { value } else { [] } }

  /// The fields of an object; empty for other values.
  public var fields: [String: JSONValue] {
    if case .object(let value) = self { value } else { [:] }
  }
}

// MARK: Writing

extension JSONValue {
  /// The JSON text, with sorted fields; `null` for a number that is infinite or not a number.
  public var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    } catch {
      // JSON has no such number, and nothing else of a value fails to be encoded.
      return "null"
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { $1 })
  }
}

extension JSONValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // The most frequent types come first, because a mismatch throws an error, which is slow.
    if let string = container.decodeIfMatching(String.self) {
      self = .string(string)
    } else if container.decodeNil() {
      self = .null
    } else if let fields = container.decodeIfMatching([String: JSONValue].self) {
      self = .object(fields)
    } else if let elements = container.decodeIfMatching([JSONValue].self) {
      self = .array(elements)
    } else if let number = container.decodeIfMatching(Double.self) {
      self = .number(number)
    } else {
      self = .bool(try container.decode(Bool.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value):
      if let integer { try container.encode(integer) } else { try container.encode(value) }
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
