// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A JSON value of the browser: the result of a script or of a command.
public enum JSONValue: Sendable, Hashable, Encodable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Parses JSON.
  ///
  /// `Decodable` would need an error for each type that a value does not have, and accessibility
  /// trees have tens of thousands of values.
  public init(json: Data) throws {
    self.init(try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed))
  }

  private init(_ value: Any) {
    switch value {
    case let text as String: self = .string(text)
    case let fields as [String: Any]: self = .object(fields.mapValues(JSONValue.init))
    case let elements as [Any]: self = .array(elements.map(JSONValue.init))
    // Only Booleans have this type.
    case let number as NSNumber where String(cString: number.objCType) == "c":
      self = .bool(number.boolValue)
    case let number as NSNumber: self = .number(number.doubleValue)
    default: self = .null
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  public var number: Double? {
    if case .number(let value) = self { value } else { nil }
  }

  public var int: Int? { number.flatMap { Int(exactly: $0) } }

  public var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The elements of an array; empty for other values.
  public var array: [JSONValue] {
    if case .array(let value) = self { value } else { [] }
  }

  /// The members of an object; empty for other values.
  public var object: [String: JSONValue] {
    if case .object(let value) = self { value } else { [:] }
  }

  public subscript(name: String) -> JSONValue { object[name] ?? .null }

  /// Truth as in JavaScript.
  public var isTruthy: Bool {
    switch self {
    case .null: false
    case .bool(let value): value
    case .number(let value): value != 0 && !value.isNaN
    case .string(let value): !value.isEmpty
    case .array, .object: true
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .number(Double(value)) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { $1 })
  }
}
