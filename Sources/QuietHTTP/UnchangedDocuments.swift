// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import NIOHTTP1

/// Public documents that clients ask for again and again with the tag that they have. If it is the present one, the
/// response is 304, without the router and its middleware: most requests to a key server are of this kind.
package struct UnchangedDocuments: Sendable {
  /// The present tag of a document, and the names and values of further headers; nil if the request has to be routed,
  /// because the document was not read yet, was replaced, or cannot be read. Called on an event loop.
  package typealias State = @Sendable () -> (tag: EntityTag, headers: [(String, String)])?

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

  var isEmpty: Bool { states.isEmpty }

  /// The headers of the response 304; nil for a request that has to be routed: to another path, with another tag, with
  /// a body, with headers that have other effects, or the last one of its connection.
  func headers(for request: HTTPRequestHead) -> HTTPHeaders? {
    guard request.method == .GET, let state = states[request.uri],
      let known = request.headers.first(name: "if-none-match"), request.isKeepAlive,
      !request.headers.contains(name: "if-match"), !request.headers.contains(name: "origin"),
      !request.mayHaveBody, let present = state(), present.tag.text == known
    else { return nil }
    metrics?.record(route: request.uri, status: .notModified, duration: .zero)
    var headers = HTTPHeaders(present.headers)
    headers.add(name: "etag", value: known)
    headers.add(name: "x-content-type-options", value: "nosniff")
    return headers
  }
}

/// Responds to requests for documents that the client has on the event loop: the way to the task of the connection and
/// back takes longer than all the rest of such a request.
///
/// The HTTP library sees nothing of these requests and would take the connection for an idle one. So it gets one of
/// them whenever it has got none for a twentieth of the time after which it closes an idle connection.
final class UnchangedResponses: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let documents: UnchangedDocuments
  private let dates: ResponseDates
  private let silence: TimeAmount
  /// The time of the last request that was passed on; at first that of the connection.
  private var lastPassed = NIODeadline.now()
  /// True after the last request of the connection: what follows it gets no response.
  private var isLast = false
  /// The headers of the response to the current request; nil if it was passed on.
  private var headers: HTTPHeaders?

  /// True if the current request gets its response here when it is complete.
  var willRespond: Bool { headers != nil }

  /// - Parameter idleSeconds: The seconds after which the HTTP library closes an idle connection.
  init(_ documents: UnchangedDocuments, _ dates: ResponseDates, idleSeconds: Int) {
    self.documents = documents
    self.dates = dates
    silence = .milliseconds(Int64(idleSeconds) * 50)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    if case .head(let head) = part {
      let now = NIODeadline.now()
      headers = !isLast && now - lastPassed < silence ? documents.headers(for: head) : nil
      isLast = isLast || !head.isKeepAlive
      if headers == nil { lastPassed = now }
    }
    guard headers != nil else { return context.fireChannelRead(data) }
    if case .end = part { respond(context) }
  }

  private func respond(_ context: ChannelHandlerContext) {
    headers?.add(name: "date", value: dates.text)
    guard let headers else { return }
    let head = HTTPResponseHead(version: .http1_1, status: .notModified, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    // Before the end: when it is sent, the next request may be read.
    self.headers = nil
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}

extension HTTPRequestHead {
  /// True if the request announces a body, as `Request.mayHaveBody`.
  fileprivate var mayHaveBody: Bool {
    headers.contains(name: "transfer-encoding")
      || (headers.first(name: "content-length").map { $0 != "0" } ?? false)
  }
}
