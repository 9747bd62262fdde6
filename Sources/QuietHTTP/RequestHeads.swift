import Logging
import NIOCore
import NIOHTTP1

/// Applies the rules of HTTP/1.1 that need the version of a request, which the HTTP library drops.
///
/// - A request without exactly one `Host` is rejected (RFC 9112, 3.2), because a proxy could route it differently.
///   `Host` is optional in HTTP/1.0.
/// - A client that waits for `100 Continue` gets it when a route begins to read the body (RFC 9110, 10.1.1).
/// - Status lines have no reason phrase, whose length would reveal the status (RFC 9112, 4).
/// - The connection is closed after a request of HTTP/1.0, whose clients read until the end, or with
///   `Connection: close` in any spelling (RFC 9112, 9.3).
///
/// Each refusal of the parser is logged as a request without method and path.
final class RequestHeads: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let logger: Logger
  private var isRefused = false
  private var expectsContinue = false

  init(logger: Logger) {
    self.logger = logger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isRefused else { return }
    guard case .head(var head) = unwrapInboundIn(data) else {
      context.fireChannelRead(data)
      return
    }
    guard head.hasValidHost else { return errorCaught(context: context, error: InvalidHost()) }
    expectsContinue =
      head.version == .http1_1
      && head.headers["expect"].contains { $0.lowercased() == "100-continue" }
    if head.version == .http1_0 || !head.isKeepAlive {
      head.headers.replaceOrAdd(name: "connection", value: "close")
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case is HTTPParserError, is InvalidHost:
      isRefused = true
      // The cases have no content of the request.
      logger.info("- - 400", metadata: ["cause": "\(error)"])
      // The HTTP library answers these errors with 400 and closes the connection.
      context.fireErrorCaught(error is InvalidHost ? HTTPParserError.invalidHeaderToken : error)
    default: context.fireErrorCaught(error)
    }
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is ReadsBody else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    if expectsContinue {
      let head = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }
    expectsContinue = false
    promise?.succeed()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // `100 Continue` must not be sent after the response.
    expectsContinue = false
    guard case .head(var head) = unwrapOutboundIn(data), head.status.mayHaveResponseBody else {
      return context.write(data, promise: promise)
    }
    head.status = .custom(code: head.status.code, reasonPhrase: "")
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }

  /// The event that a route begins to read the body.
  struct ReadsBody: Sendable {}

  private struct InvalidHost: Error, CustomStringConvertible {
    var description: String { "invalidHost" }
  }
}

extension HTTPRequestHead {
  fileprivate var hasValidHost: Bool {
    let hosts = headers["host"]
    if hosts.isEmpty { return version != .http1_1 }
    return hosts.count == 1 && !hosts[0].contains(",")
  }
}
