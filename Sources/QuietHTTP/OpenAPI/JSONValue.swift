/// Any JSON, for documents whose form is data.
public indirect enum JSONValue: Encodable, Hashable, Sendable {
  /// A text.
  case string(String)
  /// A whole number.
  case integer(Int)
  /// Yes or no.
  case boolean(Bool)
  /// A list.
  case array([JSONValue])
  /// An object.
  case object([String: JSONValue])

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

extension JSONValue: ExpressibleByStringLiteral {
  /// The text `value`.
  public init(stringLiteral value: String) {
    self = .string(value)
  }
}
