// SPDX-License-Identifier: Apache-2.0
import KeyServerAPI
import NIOCore
import NIOHTTP1
import NIOPosix
import Terminal

/// A closed loop of requests for the index of a key server by clients that have it already.
///
/// All connections share one event loop, because the generator shares the cores with the server.
package struct IndexLoad: Sendable {
  /// The responses to the requests of a load.
  package struct Responses: Sendable {
    /// Those with the status 304.
    package var unchanged = 0
    /// All others.
    package var others = 0
    /// The tag in the last response.
    package var tag: String?
  }

  private let host: String
  private let port: Int

  package init(host: String, port: Int) {
    (self.host, self.port) = (host, port)
  }

  /// Sends `count` requests over each of `connections`, with the tag of the present index.
  ///
  /// - Returns: The responses, without the one that told the tag.
  /// - Throws: `CommandFailure` if the server cannot be reached, or has no index with a tag.
  package func send(_ count: Int, connections: Int) async throws -> Responses {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let result: Result<Responses, any Error>
    do {
      result = .success(try await send(count, connections: connections, on: group))
    } catch {
      result = .failure(error)
    }
    try await group.shutdownGracefully()
    do { return try result.get() } catch {
      throw CommandFailure(
        status: .machineFailed,
        message:
          "\(host):\(port) has not answered all requests for an index: check that it is running.")
    }
  }

  private func send(
    _ count: Int, connections: Int, on group: MultiThreadedEventLoopGroup
  ) async throws -> Responses {
    guard let tag = try await requests(1, tag: nil, on: group).tag else {
      throw ChannelError.inputClosed
    }
    return try await withThrowingTaskGroup(of: Responses.self) { tasks in
      for _ in 0..<connections {
        tasks.addTask { try await requests(count, tag: tag, on: group) }
      }
      return try await tasks.reduce(into: Responses()) { sum, responses in
        sum.unchanged += responses.unchanged
        sum.others += responses.others
      }
    }
  }

  private func requests(
    _ count: Int, tag: String?, on group: MultiThreadedEventLoopGroup
  ) async throws -> Responses {
    let done = group.next().makePromise(of: Responses.self)
    let name = "\(host):\(port)"
    do {
      _ = try await ClientBootstrap(group: group)
        .channelOption(.socketOption(.tcp_nodelay), value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHTTPClientHandlers()
            try pipeline.addHandler(IndexConnection(count, host: name, tag: tag, done))
          }
        }.connect(host: host, port: port).get()
    } catch {
      done.fail(error)
    }
    return try await done.futureResult.get()
  }
}

/// One connection: sends a request, waits for the response, sends the next.
private final class IndexConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let request: HTTPRequestHead
  private let done: EventLoopPromise<IndexLoad.Responses>
  private var left: Int
  private var responses = IndexLoad.Responses()

  init(
    _ count: Int, host: String, tag: String?, _ done: EventLoopPromise<IndexLoad.Responses>
  ) {
    left = count
    self.done = done
    var headers: HTTPHeaders = ["host": host, "user-agent": "firebreak-bench"]
    if let tag { headers.add(name: "if-none-match", value: tag) }
    request = HTTPRequestHead(
      version: .http1_1, method: .GET, uri: KeyServerRoute.index, headers: headers)
  }

  func channelActive(context: ChannelHandlerContext) { sendNext(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      responses.tag = head.headers.first(name: "etag")
      if head.status == .notModified { responses.unchanged += 1 } else { responses.others += 1 }
    case .body: break
    case .end: sendNext(context)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    // Without effect if all responses have been received.
    done.fail(ChannelError.inputClosed)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func sendNext(_ context: ChannelHandlerContext) {
    guard left > 0 else {
      done.succeed(responses)
      return context.close(promise: nil)
    }
    left -= 1
    context.write(wrapOutboundOut(.head(request)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}
