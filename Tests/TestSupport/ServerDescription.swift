import Foundation

/// A server's own description, read back from `/openapi.json`.
public struct ServerDescription {
  private let document: [String: Any]

  /// Nil where `json` is no OpenAPI 3.1 document.
  public init?(_ json: Data) {
    guard let object = try? JSONSerialization.jsonObject(with: json),
      let document = object as? [String: Any],
      (document["openapi"] as? String)?.hasPrefix("3.1.") == true
    else { return nil }
    self.document = document
  }

  /// Each route that is described, as `POST /path`.
  public var routes: Set<String> {
    Set(paths.flatMap { path, operations in operations.keys.map { "\($0.uppercased()) \(path)" } })
  }

  /// Each answer that is described, as `POST /path 200`.
  public var answers: Set<String> {
    Set(
      paths.flatMap { path, operations in
        operations.flatMap { method, operation in
          (operation["responses"] as? [String: Any] ?? [:]).keys.map {
            "\(method.uppercased()) \(path) \($0)"
          }
        }
      })
  }

  /// What is wrong with `body` as an answer of `method` on `path` with `status`.
  public func faults(
    inAnswer body: Data, status: Int, method: String = "post", path: String
  ) -> [String] {
    let responses = operation(method, path)?["responses"] as? [String: [String: Any]]
    guard let response = responses?["\(status)"] else {
      return ["\(path) does not describe an answer of \(status)"]
    }
    return faults(in: body, Self.schema(response))
  }

  /// The content types of the answer of `method` on `path` with `status`; nil where none is described.
  public func contentTypes(status: Int, method: String = "get", path: String) -> Set<String>? {
    let responses = operation(method, path)?["responses"] as? [String: [String: Any]]
    return responses?["\(status)"].map { Set(($0["content"] as? [String: Any] ?? [:]).keys) }
  }

  /// What is wrong with `body` as a question to `path`. A field that is not described is, also where others are
  /// allowed: a test asks what it knows, and the description must know it too.
  public func faults(inQuestion body: Data, path: String) -> [String] {
    let schema = Self.schema(operation("post", path)?["requestBody"] as? [String: Any])
    return faults(in: body, schema.map(Self.closed))
  }

  /// The schema without leave for fields that are not described.
  private static func closed(_ schema: [String: Any]) -> [String: Any] {
    var schema = schema
    if let properties = schema["properties"] as? [String: [String: Any]] {
      schema["properties"] = properties.mapValues(closed)
      schema["additionalProperties"] = false
    }
    if let items = schema["items"] as? [String: Any] { schema["items"] = closed(items) }
    return schema
  }

  private var paths: [String: [String: [String: Any]]] {
    document["paths"] as? [String: [String: [String: Any]]] ?? [:]
  }

  private func operation(_ method: String, _ path: String) -> [String: Any]? {
    paths[path]?[method]
  }

  private static func schema(_ part: [String: Any]?) -> [String: Any]? {
    let content = part?["content"] as? [String: [String: Any]]
    return content?["application/json"]?["schema"] as? [String: Any]
  }

  private func faults(in body: Data, _ schema: [String: Any]?) -> [String] {
    guard let schema else { return ["no schema"] }
    guard let value = try? JSONSerialization.jsonObject(with: body) else { return ["no JSON"] }
    return JSONSchemaCheck.faults(in: value, schema)
  }
}
