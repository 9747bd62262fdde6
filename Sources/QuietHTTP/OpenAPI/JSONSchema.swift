/// A schema of a JSON value in the dialect of OpenAPI 3.1 (JSON Schema 2020-12).
public struct JSONSchema: Sendable, Hashable {
  let value: SchemaValue

  private init(_ fields: [String: SchemaValue]) {
    value = .object(fields)
  }

  /// A string, optionally with a regular expression or a list of all values.
  public static func string(
    _ description: String, pattern: String? = nil, oneOf: [String] = []
  ) -> JSONSchema {
    var fields: [String: SchemaValue] = ["type": "string", "description": .string(description)]
    if let pattern { fields["pattern"] = .string(pattern) }
    if !oneOf.isEmpty { fields["enum"] = .array(oneOf.map(SchemaValue.string)) }
    return JSONSchema(fields)
  }

  /// An integer, optionally within `range`.
  public static func integer(
    _ description: String, _ range: ClosedRange<Int>? = nil
  ) -> JSONSchema {
    var fields: [String: SchemaValue] = ["type": "integer", "description": .string(description)]
    if let range {
      fields["minimum"] = .integer(range.lowerBound)
      fields["maximum"] = .integer(range.upperBound)
    }
    return JSONSchema(fields)
  }

  /// A Boolean.
  public static func boolean(_ description: String) -> JSONSchema {
    JSONSchema(["type": "boolean", "description": .string(description)])
  }

  /// An array of `element`, optionally with a number of elements.
  public static func array(
    of element: JSONSchema, _ description: String, count: ClosedRange<Int>? = nil
  ) -> JSONSchema {
    var fields: [String: SchemaValue] = [
      "type": "array", "description": .string(description), "items": element.value,
    ]
    if let count {
      fields["minItems"] = .integer(count.lowerBound)
      fields["maxItems"] = .integer(count.upperBound)
    }
    return JSONSchema(fields)
  }

  /// An object with `fields`, of which `required` are always present. Other fields exist only if
  /// `allowsOthers`.
  public static func object(
    _ fields: [String: JSONSchema], required: [String] = [], allowsOthers: Bool = false
  ) -> JSONSchema {
    JSONSchema([
      "type": "object", "properties": .object(fields.mapValues(\.value)),
      "required": .array(required.map(SchemaValue.string)),
      "additionalProperties": .boolean(allowsOthers),
    ])
  }

  /// The padding, which is optional in requests and present in all responses.
  public static let padding = JSONSchema.string("Base64 of random bytes, to be ignored.")
}

/// A JSON value inside a schema or an OpenAPI document.
public indirect enum SchemaValue: Encodable, Hashable, Sendable {
  /// A string.
  case string(String)
  /// An integer.
  case integer(Int)
  /// A Boolean.
  case boolean(Bool)
  /// An array.
  case array([SchemaValue])
  /// An object.
  case object([String: SchemaValue])

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .string(let text): try container.encode(text)
    case .integer(let number): try container.encode(number)
    case .boolean(let flag): try container.encode(flag)
    case .array(let list): try container.encode(list)
    case .object(let fields): try container.encode(fields)
    }
  }
}

extension SchemaValue: ExpressibleByStringLiteral {
  /// A string literal.
  public init(stringLiteral value: String) {
    self = .string(value)
  }
}
