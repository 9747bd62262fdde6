import NIOCore
import NIOHTTP1

/// Marks the requests after which the connection ends (RFC 9112, 9.3): those of HTTP/1.0, whose senders
/// read until it does, and those that ask for it in whatever spelling.
///
/// The HTTP library no longer knows a request's version when it answers.
final class ConnectionPersistence: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data),
      head.version == .http1_0 || !head.isKeepAlive
    else {
      context.fireChannelRead(data)
      return
    }
    head.headers.replaceOrAdd(name: "connection", value: "close")
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }
}
