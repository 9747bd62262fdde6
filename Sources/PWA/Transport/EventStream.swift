import Foundation
import Hummingbird
import QuietHTTP

/// The stream of events of one page (server-sent events): the pushes of the phone.
enum EventStream {
  /// The answer to a request for the events. It ends with the page, with the server, or when a newer page needs it.
  static func response(_ request: Request, of bridge: Bridge) -> Response {
    .events(to: request, from: { await bridge.connect() }, text: text)
  }

  static func text(of event: BridgePushes.Event) -> String {
    switch event {
    case .push(let push): "event: push\ndata: \(push.line)\n\n"
    case .heartbeat: ":\n\n"
    case .replaced: "event: replaced\ndata: {}\n\n"
    }
  }
}
