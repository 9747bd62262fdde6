/// The form of a JSON value, in the words of JSON Schema 2020-12 that OpenAPI 3.1 speaks.
public struct JSONSchema: Sendable, Hashable {
  let value: JSONValue

  private init(_ fields: [String: JSONValue]) {
    value = .object(fields)
  }

  /// A text; `pattern` is a regular expression for it, `oneOf` all the texts there are.
  public static func string(
    _ description: String, pattern: String? = nil, oneOf: [String] = []
  ) -> JSONSchema {
    var fields: [String: JSONValue] = ["type": "string", "description": .string(description)]
    if let pattern { fields["pattern"] = .string(pattern) }
    if !oneOf.isEmpty { fields["enum"] = .array(oneOf.map(JSONValue.string)) }
    return JSONSchema(fields)
  }

  /// A whole number, within `range` where there is one.
  public static func integer(
    _ description: String, _ range: ClosedRange<Int>? = nil
  ) -> JSONSchema {
    var fields: [String: JSONValue] = ["type": "integer", "description": .string(description)]
    if let range {
      fields["minimum"] = .integer(range.lowerBound)
      fields["maximum"] = .integer(range.upperBound)
    }
    return JSONSchema(fields)
  }

  /// Yes or no.
  public static func boolean(_ description: String) -> JSONSchema {
    JSONSchema(["type": "boolean", "description": .string(description)])
  }

  /// A list of `element`, as long as `count` says.
  public static func array(
    of element: JSONSchema, _ description: String, count: ClosedRange<Int>? = nil
  ) -> JSONSchema {
    var fields: [String: JSONValue] = [
      "type": "array", "description": .string(description), "items": element.value,
    ]
    if let count {
      fields["minItems"] = .integer(count.lowerBound)
      fields["maxItems"] = .integer(count.upperBound)
    }
    return JSONSchema(fields)
  }

  /// An object of these fields; those of `required` are always there, and others never unless
  /// `allowsOthers`.
  public static func object(
    _ fields: [String: JSONSchema], required: [String] = [], allowsOthers: Bool = false
  ) -> JSONSchema {
    JSONSchema([
      "type": "object", "properties": .object(fields.mapValues(\.value)),
      "required": .array(required.map(JSONValue.string)),
      "additionalProperties": .boolean(allowsOthers),
    ])
  }

  /// The padding that every request may and every answer of ours does carry.
  public static let padding = JSONSchema.string("Base64 of random bytes, to be ignored.")
}
