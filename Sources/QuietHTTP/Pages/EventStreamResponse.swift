import Hummingbird
import NIOCore

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
        try? await request.body.consumeWithCancellationOnInboundClose { _ in
          for await event in events {
            try await writer.write(ByteBuffer(string: text(event)))
          }
        }
        try await writer.finish(nil)
      })
  }
}
