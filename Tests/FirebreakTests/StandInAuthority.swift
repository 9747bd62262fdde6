import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Somebody else's server, such as Apple's or a gateway of SMS: remembers what it was asked and answers what the
/// test says. It lives on a thread of its own, so that a test may wait for a process that talks to it.
final class StandInAuthority: Sendable {
  /// What it was asked.
  struct Question: Sendable {
    let path: String
    /// By lower-case name.
    let headers: [String: String]
    let body: Data
  }

  /// What it answers.
  struct Reply: Sendable {
    var status = 200
    var body = ""
  }

  private let asked: Mutex<[Question]>
  private let reply: Mutex<Reply>
  private let group: MultiThreadedEventLoopGroup
  private let port: Int

  var questions: [Question] { asked.withLock { $0 } }
  var address: String { "http://127.0.0.1:\(port)" }

  func now(says new: Reply) { reply.withLock { $0 = new } }

  init(_ first: Reply = Reply()) throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let box = Box()
    let channel = try ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Desk(box))
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    self.group = group
    port = channel.localAddress?.port ?? 0
    asked = Mutex([])
    reply = Mutex(first)
    box.server.withLock { $0 = WeakServer(server: self) }
  }

  deinit {
    group.shutdownGracefully { _ in }
  }

  private func answer(_ question: Question) -> Reply {
    asked.withLock { $0.append(question) }
    return reply.withLock { $0 }
  }

  private struct WeakServer: Sendable {
    weak let server: StandInAuthority?
  }

  private final class Box: Sendable {
    let server = Mutex(WeakServer(server: nil))
  }

  /// Reads one request after another and answers each.
  private final class Desk: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let box: Box
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ box: Box) {
      self.box = box
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): (self.head, body) = (head, [])
      case .body(let bytes): body += bytes.readableBytesView
      case .end: answer(context)
      }
    }

    private func answer(_ context: ChannelHandlerContext) {
      guard let head, let server = box.server.withLock({ $0.server }) else { return }
      let headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
      let reply = server.answer(Question(path: head.uri, headers: headers, body: Data(body)))
      let response = HTTPResponseHead(
        version: .http1_1, status: HTTPResponseStatus(statusCode: reply.status),
        headers: ["content-length": "\(reply.body.utf8.count)"])
      context.write(wrapOutboundOut(.head(response)), promise: nil)
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: reply.body)))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
