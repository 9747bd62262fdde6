import Hummingbird

/// The description of a server (OpenAPI 3.1), built from the same declarations as its routes.
public struct OpenAPIDocument: Encodable, Sendable {
  /// Where every server serves it.
  public static let path = "/openapi.json"

  private let title: String
  private let version: String
  private let operations: [OpenAPIOperation]

  /// The description of a server with `operations`; the route of the description itself is added.
  public init(title: String, version: String, operations: [OpenAPIOperation]) {
    self.title = title
    self.version = version
    self.operations = operations + [Self.operation]
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
    answers: [
      .init(
        200, "An OpenAPI 3.1 document.",
        .object(
          ["openapi": .string("The version of OpenAPI.")], required: ["openapi"], allowsOthers: true
        ))
    ])
}

extension Router where Context == QuietContext {
  /// Serves `document` under `OpenAPIDocument.path`.
  public func describe(_ document: OpenAPIDocument) throws {
    let page = try QuietPage(document, maxAgeSeconds: 300)
    self.page(RouterPath(OpenAPIDocument.path)) { page }
  }
}
