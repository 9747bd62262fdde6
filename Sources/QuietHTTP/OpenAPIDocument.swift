// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import TextEncodings

/// The OpenAPI 3.1 description of a server.
public struct OpenAPIDocument: Encodable, Sendable {
  /// The path of the description on every server.
  public static let path = "/openapi.json"

  private let title: String
  private let version: String
  private let operations: [OpenAPIOperation]

  /// Creates a description of `operations`, of the routes that all servers have for probes, and of its own route.
  public init(title: String, version: String, operations: [OpenAPIOperation]) {
    self.title = title
    self.version = version
    self.operations = operations + HealthRoutes.operations + [Self.operation]
  }

  public func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder)
  }

  private var value: JSONValue {
    let byPath = Dictionary(grouping: operations, by: \.path)
    let paths = byPath.mapValues { operations in
      JSONValue.object(
        Dictionary(operations.map { ($0.method.rawValue, $0.value) }) { first, _ in first })
    }
    return .object([
      "openapi": "3.1.0",
      "info": .object(["title": .string(title), "version": .string(version)]),
      "paths": .object(paths),
      "components": .object(["securitySchemes": .object(credentials)]),
    ])
  }

  private var credentials: [String: JSONValue] {
    let headers = Set(operations.compactMap(\.credentialHeader))
    return Dictionary(
      headers.map { header in
        (header, .object(["type": "apiKey", "in": "header", "name": .string(header)]))
      }
    ) { first, _ in first }
  }

  private static let operation = OpenAPIOperation(
    .get, path, "This description.",
    responses: [
      .init(
        200, "An OpenAPI 3.1 document.",
        .object(
          ["openapi": .string("The version of OpenAPI.")], required: ["openapi"], allowsOthers: true
        ))
    ])
}

extension Router where Context == QuietContext {
  /// Adds a route that returns `document`.
  public func describe(_ document: OpenAPIDocument) throws {
    let page = try QuietPage(document, maxAgeSeconds: 300)
    self.page(RouterPath(OpenAPIDocument.path)) { page }
  }
}

/// The OpenAPI description of one route.
public struct OpenAPIOperation: Sendable {
  /// The HTTP method.
  public enum Method: String, Sendable {
    /// GET.
    case get
    /// POST with a body.
    case post
  }

  /// The response with one status.
  public struct Response: Sendable {
    let status: Int
    let description: String
    /// The schemas by content type; empty if there is no body.
    let content: [String: JSONSchema]

    /// Creates a response with a JSON body.
    public init(_ status: Int, _ description: String, _ schema: JSONSchema) {
      self.init(status, description, content: ["application/json": schema])
    }

    /// Creates a response with a schema per content type, or without a body if `content` is empty.
    public init(_ status: Int, _ description: String, content: [String: JSONSchema]) {
      self.status = status
      self.description = description
      self.content = content
    }
  }

  /// The HTTP method.
  public let method: Method
  /// The path.
  public let path: String
  let summary: String
  let credentialHeader: String?
  let request: JSONSchema?
  let responses: [Response]

  /// Creates a description. `credentialHeader` is the header with the required credential, if any.
  public init(
    _ method: Method, _ path: String, _ summary: String, credentialHeader: String? = nil,
    request: JSONSchema? = nil, responses: [Response]
  ) {
    self.method = method
    self.path = path
    self.summary = summary
    self.credentialHeader = credentialHeader
    self.request = request
    self.responses = responses
  }

  var value: JSONValue {
    var fields: [String: JSONValue] = [
      "summary": .string(summary), "operationId": .string(operationID),
      "responses": .object(
        Dictionary(responses.map { ("\($0.status)", Self.value(of: $0)) }) { first, _ in first }),
    ]
    if !parameters.isEmpty { fields["parameters"] = .array(parameters) }
    if let request {
      fields["requestBody"] = .object([
        "required": .bool(true), "content": Self.json(request),
      ])
    }
    if let credentialHeader {
      fields["security"] = .array([.object([credentialHeader: .array([])])])
    }
    return .object(fields)
  }

  private var operationID: String {
    let words = path.split { !$0.isLetter && !$0.isNumber }
    return method.rawValue + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// The parameters in braces in the path.
  private var parameters: [JSONValue] {
    path.split(separator: "/").filter { $0.hasPrefix("{") }.map { part in
      .object([
        "name": .string(String(part.dropFirst().dropLast())), "in": "path",
        "required": .bool(true), "schema": .object(["type": "string"]),
      ])
    }
  }

  private static func value(of response: Response) -> JSONValue {
    var fields: [String: JSONValue] = ["description": .string(response.description)]
    if !response.content.isEmpty {
      fields["content"] = .object(response.content.mapValues { .object(["schema": $0.value]) })
    }
    return .object(fields)
  }

  private static func json(_ schema: JSONSchema) -> JSONValue {
    .object(["application/json": .object(["schema": schema.value])])
  }
}

/// A schema of a JSON value in the dialect of OpenAPI 3.1 (JSON Schema 2020-12).
public struct JSONSchema: Sendable, Hashable {
  let value: JSONValue

  private init(_ fields: [String: JSONValue]) {
    value = .object(fields)
  }

  /// A string, optionally with a regular expression or a list of all values.
  public static func string(
    _ description: String, pattern: String? = nil, oneOf: [String] = []
  ) -> JSONSchema {
    var fields: [String: JSONValue] = ["type": "string", "description": .string(description)]
    if let pattern { fields["pattern"] = .string(pattern) }
    if !oneOf.isEmpty { fields["enum"] = .array(oneOf.map(JSONValue.string)) }
    return JSONSchema(fields)
  }

  /// An integer, optionally within `range`.
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

  /// A Boolean.
  public static func boolean(_ description: String) -> JSONSchema {
    JSONSchema(["type": "boolean", "description": .string(description)])
  }

  /// An array of `element`, optionally with a number of elements.
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

  /// An object with `fields`, of which `required` are always present. Other fields exist only if
  /// `allowsOthers`.
  public static func object(
    _ fields: [String: JSONSchema], required: [String] = [], allowsOthers: Bool = false
  ) -> JSONSchema {
    JSONSchema([
      "type": "object", "properties": .object(fields.mapValues(\.value)),
      "required": .array(required.map(JSONValue.string)),
      "additionalProperties": .bool(allowsOthers),
    ])
  }

  /// The padding, which is optional in requests and present in all responses.
  public static let padding = JSONSchema.string("Base64 of random bytes, to be ignored.")
}
