// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Compares the responses of a server with its OpenAPI description: every response must be described, and every
/// described response must occur.
public struct DescriptionLedger {
  public let description: ServerDescription
  private var seen: Set<String> = []

  /// Starts without responses.
  public init(_ description: ServerDescription) {
    self.description = description
  }

  /// Records a response of `method` on `path`; returns its differences from the description.
  public mutating func note(
    _ body: Data, status: Int, type: String?, method: String = "post", path: String
  ) -> [String] {
    let name = "\(method.uppercased()) \(path) \(status)"
    seen.insert(name)
    guard let types = description.contentTypes(status: status, method: method, path: path) else {
      return ["\(name): not described"]
    }
    let media = type.map { String($0.prefix { $0 != ";" }) }
    // A route with an ending in its path has one of several types.
    guard media.map({ types.contains($0) }) ?? types.isEmpty else {
      return ["\(name): type \(media ?? "")"]
    }
    guard media == "application/json" else { return [] }
    return description.faults(inAnswer: body, status: status, method: method, path: path)
      .map { "\(name): \($0)" }
  }

  /// The described responses that have not occurred, as `POST /path 200`.
  public var unanswered: [String] { description.answers.subtracting(seen).sorted() }
}
