// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import Logging

/// Public documents that clients ask for again and again with the tag that they have. If it is the present one, the
/// response is 304, without the router and its middleware: most requests to a key server are of this kind.
package struct UnchangedDocuments: Sendable {
  /// The present tag of a document, and the headers of its responses; nil if it cannot be read.
  package typealias State = @Sendable () -> (tag: EntityTag, headers: HTTPFields)?

  /// No documents.
  static let none = UnchangedDocuments([:], metrics: nil)

  private let states: [String: State]
  private let metrics: RequestMetrics?

  /// - Parameters:
  ///   - states: The documents by the paths of their routes.
  ///   - metrics: Counts the requests; nil for none.
  package init(_ states: [String: State], metrics: RequestMetrics?) {
    self.states = states
    self.metrics = metrics
  }

  /// The response 304; nil for a request that has to be routed: to another path, with another tag, with a body, with
  /// headers that have other effects, or if requests are logged.
  func response(to request: Request, logger: Logger) -> Response? {
    guard !states.isEmpty, request.method == .get, let state = states[request.uri.path],
      let known = request.headers[.ifNoneMatch], request.headers[.ifMatch] == nil,
      request.headers[.origin] == nil, !request.mayHaveBody, logger.logLevel > .info,
      let present = state(), present.tag.text == known
    else { return nil }
    var headers = present.headers
    headers[.eTag] = known
    headers[.xContentTypeOptions] = "nosniff"
    metrics?.record(route: request.uri.path, status: .notModified, duration: .zero)
    return Response(status: .notModified, headers: headers)
  }
}
