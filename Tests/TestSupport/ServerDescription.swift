// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The OpenAPI description of a server, parsed from `/openapi.json`.
public struct ServerDescription {
  private let document: [String: Any]

  /// Returns nil if `json` is not an OpenAPI 3.1 document.
  public init?(_ json: Data) {
    guard let object = try? JSONSerialization.jsonObject(with: json),
      let document = object as? [String: Any],
      (document["openapi"] as? String)?.hasPrefix("3.1.") == true
    else { return nil }
    self.document = document
  }

  /// The described routes, as `POST /path`.
  public var routes: Set<String> {
    Set(paths.flatMap { path, operations in operations.keys.map { "\($0.uppercased()) \(path)" } })
  }

  /// The described responses, as `POST /path 200`.
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

  /// The errors in `body` as a response of `method` on `path` with `status`.
  public func faults(
    inAnswer body: Data, status: Int, method: String = "post", path: String
  ) -> [String] {
    let responses = operation(method, path)?["responses"] as? [String: [String: Any]]
    guard let response = responses?["\(status)"] else {
      return ["\(path) does not describe an answer of \(status)"]
    }
    return faults(in: body, Self.schema(response))
  }

  /// The content types of a response of `method` on `path` with `status`; nil if it is not described.
  public func contentTypes(status: Int, method: String = "get", path: String) -> Set<String>? {
    let responses = operation(method, path)?["responses"] as? [String: [String: Any]]
    return responses?["\(status)"].map { Set(($0["content"] as? [String: Any] ?? [:]).keys) }
  }

  /// The errors in `body` as a request to `path`. Fields that are not described are errors even if the schema allows
  /// others, because tests send only fields that the description must contain.
  public func faults(inQuestion body: Data, path: String) -> [String] {
    let schema = Self.schema(operation("post", path)?["requestBody"] as? [String: Any])
    return faults(in: body, schema.map(Self.closed))
  }

  /// The schema with additional fields forbidden.
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
