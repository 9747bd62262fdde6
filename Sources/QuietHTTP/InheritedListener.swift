// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Serves the connections of a socket that already listens, as the library does with a socket that it binds.
struct InheritedListener: Service {
  /// The socket, which is closed with the listener.
  let descriptor: Int32
  let responder: LoadedResponder
  /// Makes the protocol of a connection.
  let connection:
    @Sendable (@escaping HTTPChannelHandler.Responder) throws -> any ServerChildChannel
  let accepted: AcceptedConnections
  /// Called with the listening channel.
  let onListening: @Sendable (any Channel) async -> Void
  let logger: Logger

  /// Serves until a graceful shutdown: it accepts no more connections, and ends those that have no request.
  func run() async throws {
    try await serve(try connection(respond))
  }

  private func serve(_ connection: some ServerChildChannel) async throws {
    let open = QuiescingConnections()
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelInitializer { [accepted] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            AvailableConnectionsChannelHandler(delegate: accepted))
        }
      }
      .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
      .bind(descriptor) { [logger] channel in
        open.insert(channel)
        return connection.setup(channel: channel, logger: logger)
      }
    await withGracefulShutdownHandler {
      await onListening(listener.channel)
      await withDiscardingTaskGroup { [logger] group in
        do {
          try await listener.executeThenClose { connections in
            for try await value in connections {
              group.addTask { await connection.handle(value: value, logger: logger) }
            }
          }
        } catch {
          logger.error("accepting connections failed", metadata: ["cause": "\(error)"])
        }
      }
    } onGracefulShutdown: {
      listener.channel.close(promise: nil)
      open.quiesce()
    }
  }

  /// Responds to one request.
  @Sendable private func respond(
    to request: Request, with writer: consuming ResponseWriter, on channel: any Channel
  ) async throws {
    var logger = logger
    logger[metadataKey: "hb.request.id"] = "\(RequestID())"
    let response: Response
    do {
      response = try await responder.respond(
        to: request,
        context: QuietContext(
          source: ApplicationRequestContextSource(channel: channel, logger: logger)))
    } catch let error as HTTPParserError {
      throw error
    } catch {
      response = Response(status: .internalServerError)
    }
    try await writer.write(response: response.head, body: response.body)
  }
}

/// The open connections of a listener, which end after their request when it stops.
private final class QuiescingConnections: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isQuiescing = false
  }

  private let state = Mutex(State())

  func insert(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    let isQuiescing = state.withLock { state in
      state.channels[id] = channel
      return state.isQuiescing
    }
    channel.closeFuture.whenComplete { _ in self.state.withLock { $0.channels[id] = nil } }
    if isQuiescing { Self.quiesce(channel) }
  }

  func quiesce() {
    let channels = state.withLock { state in
      state.isQuiescing = true
      return Array(state.channels.values)
    }
    for channel in channels { Self.quiesce(channel) }
  }

  private static func quiesce(_ channel: any Channel) {
    channel.eventLoop.execute {
      channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
  }
}
