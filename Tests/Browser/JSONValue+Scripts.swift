// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

// Values of the browser: the results of scripts and commands.

extension JSONValue {
  /// Parses JSON.
  ///
  /// `Decodable` would need an error for each type that a value does not have, and accessibility
  /// trees have tens of thousands of values.
  init(large json: Data) throws {
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

/// A field that may be missing has no fields and no value either.
extension JSONValue? {
  public subscript(name: String) -> JSONValue? { self?[name] }
  public var string: String? { self?.string }
  public var number: Double? { self?.number }
  public var integer: Int? { self?.integer }
  public var bool: Bool? { self?.bool }
  public var elements: [JSONValue] { self?.elements ?? [] }
  public var fields: [String: JSONValue] { self?.fields ?? [:] }
  public var isTruthy: Bool { self?.isTruthy ?? false }
}
