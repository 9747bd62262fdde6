// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Terminal

/// A closed loop: each connection sends its next upload after the response to the last one.
///
/// All connections share one event loop, because the generator shares the cores with the server.
package struct UploadLoad {
  let target: PublishTarget
  let connections: Int

  /// The timeout for a response.
  static let responseSecondsMax: Int64 = 30

  package init(target: PublishTarget, connections: Int) {
    self.target = target
    self.connections = connections
  }

  /// Sends all `uploads` and returns when each has a response or has failed.
  ///
  /// - Throws: `CommandFailure` if the server cannot be reached.
  package func send(
    _ uploads: [PreparedUpload], progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> [UploadExchange] {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let queue = UploadQueue(uploads, progress: progress)
    do {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for _ in 0..<min(connections, uploads.count) {
          tasks.addTask { try await send(queue, on: group) }
        }
        while try await tasks.next() != nil {}
      }
    } catch {
      // The error below says more than one of the shutdown would.
      try? await group.shutdownGracefully()
      throw CommandFailure(
        status: .machineFailed,
        message: "The server at \(target.hostField) cannot be reached: check that it is running.")
    }
    try await group.shutdownGracefully()
    return queue.exchanges
  }

  /// Opens a new connection whenever the server has closed one, until the queue is empty.
  private func send(_ queue: UploadQueue, on group: MultiThreadedEventLoopGroup) async throws {
    while queue.hasMore {
      let target = target
      let channel = try await ClientBootstrap(group: group)
        .channelOption(.socketOption(.tcp_nodelay), value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(
              IdleStateHandler(readTimeout: .seconds(Self.responseSecondsMax)))
            try pipeline.addHTTPClientHandlers()
            try pipeline.addHandler(UploadConnection(queue, target: target))
          }
        }
        .connect(host: target.host, port: target.port).get()
      try await channel.closeFuture.get()
    }
  }
}

/// One connection: sends an upload, waits for the response, sends the next.
final class UploadConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let queue: UploadQueue
  private let path: String
  private let headers: HTTPHeaders
  /// The upload without a response, and its start time.
  private var pending: (upload: PreparedUpload, since: ContinuousClock.Instant)?
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []

  init(_ queue: UploadQueue, target: PublishTarget) {
    self.queue = queue
    path = target.path
    headers = [
      "host": target.hostField, "user-agent": "firebreak-bench", "content-type": "application/json",
    ]
  }

  func channelActive(context: ChannelHandlerContext) {
    sendNext(context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let bytes): body.append(contentsOf: bytes.readableBytesView)
    case .end: finishExchange(context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // The timeout counts as a failed exchange.
    if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    guard let pending else { return }
    self.pending = nil
    queue.record(
      UploadExchange(
        isChaff: pending.upload.isChaff, duration: ContinuousClock.now - pending.since,
        response: nil)
    )
  }

  private func finishExchange(_ context: ChannelHandlerContext) {
    guard let pending, let head else { return context.close(promise: nil) }
    let duration = ContinuousClock.now - pending.since
    self.pending = nil
    queue.record(
      UploadExchange(
        isChaff: pending.upload.isChaff, duration: duration,
        response: UploadExchange.Response(head: head, body: body)))
    self.head = nil
    body.removeAll(keepingCapacity: true)
    if head.isKeepAlive { sendNext(context) } else { context.close(promise: nil) }
  }

  private func sendNext(_ context: ChannelHandlerContext) {
    guard let upload = queue.next() else { return context.close(promise: nil) }
    var headers = headers
    headers.add(name: "content-length", value: String(upload.body.count))
    if upload.isChaff { headers.add(name: "x-chaff", value: "1") }
    let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: path, headers: headers)
    pending = (upload, .now)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(
      wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: upload.body)))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}

/// The uploads to send and the finished exchanges, shared by all connections.
final class UploadQueue: Sendable {
  private struct State {
    var next = 0
    var exchanges: [UploadExchange] = []
  }

  private let uploads: [PreparedUpload]
  private let progress: @Sendable (Int) -> Void
  private let state: Mutex<State>

  /// `progress` receives the number of finished exchanges from time to time.
  init(_ uploads: [PreparedUpload], progress: @escaping @Sendable (Int) -> Void) {
    self.uploads = uploads
    self.progress = progress
    var state = State()
    state.exchanges.reserveCapacity(uploads.count)
    self.state = Mutex(state)
  }

  /// Returns the next upload, or nil if there is none left.
  func next() -> PreparedUpload? {
    state.withLock { state in
      guard state.next < uploads.count else { return nil }
      state.next += 1
      return uploads[state.next - 1]
    }
  }

  /// True if there are uploads left.
  var hasMore: Bool { state.withLock { $0.next < uploads.count } }

  func record(_ exchange: UploadExchange) {
    let count = state.withLock { state in
      state.exchanges.append(exchange)
      return state.exchanges.count
    }
    if count.isMultiple(of: Self.exchangesPerProgress) { progress(count) }
  }

  private static let exchangesPerProgress = 500

  var exchanges: [UploadExchange] { state.withLock(\.exchanges) }
}

/// One request and its response.
package struct UploadExchange: Sendable {
  /// True if the request was a decoy.
  let isChaff: Bool
  /// From the first byte sent to the last byte received.
  package let duration: Duration
  /// Nil if the connection failed or the timeout expired.
  package let response: Response?

  package struct Response: Sendable {
    package let status: UInt
    let headers: [Header]
    let body: [UInt8]
  }

  struct Header: Sendable {
    let name: String
    let value: String
  }
}

extension UploadExchange.Response {
  init(head: HTTPResponseHead, body: [UInt8]) {
    self.init(
      status: head.status.code,
      headers: head.headers.map { UploadExchange.Header(name: $0.name, value: $0.value) },
      body: body)
  }
}

/// A serialized request.
package struct PreparedUpload: Sendable {
  package let body: [UInt8]
  /// True if it is marked as a decoy.
  let isChaff: Bool
}
