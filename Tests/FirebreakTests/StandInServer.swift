import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Somebody else's server of HTTP, which answers what a test says. It lives on a thread of its own, so that a test
/// may wait for a process that talks to it.
final class StandInServer: Sendable {
  /// What it was asked.
  struct Question: Sendable {
    let path: String
    /// By lower-case name.
    let headers: [String: String]
    let body: Data
  }

  /// What it answers: in chunks, unless the headers give a length.
  struct Reply: Sendable {
    var status = 200
    var headers: HTTPHeaders = [:]
    var body = ""
    /// Whether it hangs up afterwards.
    var isLast = false
  }

  /// How it answers; nil hangs up.
  typealias Answering = @Sendable (Question) -> Reply?

  let port: Int
  private let group: MultiThreadedEventLoopGroup

  var address: String { "http://127.0.0.1:\(port)" }

  init(_ answering: @escaping Answering) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let channel = try ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Desk(answering))
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    port = channel.localAddress?.port ?? 0
  }

  deinit {
    group.shutdownGracefully { _ in }
  }

  /// Reads one request after another and answers each.
  private final class Desk: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answering: Answering
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ answering: @escaping Answering) {
      self.answering = answering
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): (self.head, body) = (head, [])
      case .body(let bytes): body += bytes.readableBytesView
      case .end: answer(context)
      }
    }

    private func answer(_ context: ChannelHandlerContext) {
      guard let head else { return }
      let headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
      let question = Question(path: head.uri, headers: headers, body: Data(body))
      guard let reply = answering(question) else { return context.close(promise: nil) }
      let response = HTTPResponseHead(
        version: .http1_1, status: HTTPResponseStatus(statusCode: reply.status),
        headers: reply.headers)
      context.write(wrapOutboundOut(.head(response)), promise: nil)
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: reply.body)))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      if reply.isLast { context.close(promise: nil) }
    }
  }
}
