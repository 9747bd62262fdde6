// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore

// The responses that servers of pages have in common.
extension Response {
  /// A body of `type` that no cache stores.
  package static func unstored(
    _ body: some Collection<UInt8>, type: ContentType, status: HTTPResponse.Status = .ok
  ) -> Response {
    Response(
      status: status, headers: [.contentType: type.header, .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }

  /// A redirection to `path` of this server, which browsers then request with GET.
  package static func redirection(to path: String, setting cookie: String? = nil) -> Response {
    var headers: HTTPFields = [.location: path, .cacheControl: "no-store"]
    if let cookie { headers[.setCookie] = cookie }
    return Response(status: .seeOther, headers: headers)
  }

  /// Adds the headers that keep other sites from reading, framing or opening the response.
  package mutating func isolate(referrerPolicy: String = "no-referrer") {
    let isolating = [
      ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
      ("cross-origin-opener-policy", "same-origin"),
      ("cross-origin-resource-policy", "same-origin"), ("referrer-policy", referrerPolicy),
      ("x-dns-prefetch-control", "off"),
    ]
    for (name, value) in isolating {
      if let name = HTTPFields.Element.Name(name) { headers[name] = value }
    }
  }
}

extension Response {
  /// A stream of server-sent events to one page. It ends with the page, with the server, or with the events.
  ///
  /// - Parameters:
  ///   - subscribe: Begins the events, when the response begins.
  ///   - text: The lines of an event, with an empty one at the end.
  package static func events<Event: Sendable>(
    to request: Request, from subscribe: @escaping @Sendable () async -> AsyncStream<Event>,
    text: @escaping @Sendable (Event) -> String
  ) -> Response {
    Response(
      status: .ok,
      headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        let events = await subscribe()
        // A page that has been closed must free its stream at once, not at the next heartbeat.
        // Its error is the cancellation, or that of writing to a page that is gone.
        try? await request.body.consumeWithCancellationOnInboundClose { _ in
          for await event in events {
            try await writer.write(ByteBuffer(string: text(event)))
          }
        }
        try await writer.finish(nil)
      })
  }
}
