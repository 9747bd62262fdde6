import NIOCore
import NIOHTTP1
import NIOPosix

/// A closed loop: so many connections, each sends its next upload when the last one is answered.
///
/// All of them live on one event loop, as the generator shares the machine's cores with the server.
struct UploadLoad {
  let target: PublishTarget
  let connections: Int

  /// How long an answer may take.
  static let answerSecondsMax: Int64 = 30

  /// Sends all `uploads` and returns once each has been answered or has failed.
  ///
  /// - Throws: a `CommandFailure` where the server cannot be reached.
  func send(
    _ uploads: [PreparedUpload], progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> [UploadExchange] {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let ledger = UploadLedger(uploads, progress: progress)
    do {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for _ in 0..<min(connections, uploads.count) {
          tasks.addTask { try await serve(ledger, on: group) }
        }
        while try await tasks.next() != nil {}
      }
    } catch {
      try? await group.shutdownGracefully()
      throw CommandFailure(
        status: .machineFailed,
        sentence: "The server at \(target.hostField) cannot be reached: check that it is running.")
    }
    try await group.shutdownGracefully()
    return ledger.exchanges
  }

  /// One connection after another, for as long as there is something to send: a server may close one.
  private func serve(_ ledger: UploadLedger, on group: MultiThreadedEventLoopGroup) async throws {
    while ledger.hasMore {
      let target = target
      let channel = try await ClientBootstrap(group: group)
        .channelOption(.socketOption(.tcp_nodelay), value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(
              IdleStateHandler(readTimeout: .seconds(Self.answerSecondsMax)))
            try pipeline.addHTTPClientHandlers()
            try pipeline.addHandler(UploadConnection(ledger, target: target))
          }
        }
        .connect(host: target.host, port: target.port).get()
      try await channel.closeFuture.get()
    }
  }
}
