import Foundation
import Hummingbird
import NIOCore

/// The stream of events of one page (server-sent events): the pushes of the phone.
enum EventStream {
  /// The answer to a request for the events. It ends with the page, with the server, or when a newer page needs it.
  static func response(_ request: Request, of bridge: Bridge) -> Response {
    Response(
      status: .ok,
      headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        let events = await bridge.connect()
        // A page that has been closed must free its stream at once, not at the next heartbeat.
        try? await request.body.consumeWithCancellationOnInboundClose { _ in
          for await event in events {
            try await writer.write(ByteBuffer(string: text(of: event)))
          }
        }
        try await writer.finish(nil)
      })
  }

  static func text(of event: BridgePushes.Event) -> String {
    switch event {
    case .push(let push): "event: push\ndata: \(push.line)\n\n"
    case .heartbeat: ":\n\n"
    case .replaced: "event: replaced\ndata: {}\n\n"
    }
  }
}
