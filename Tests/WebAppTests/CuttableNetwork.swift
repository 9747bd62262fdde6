// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A TCP relay between a phone and a server. It can lose the response to an upload, as a network does that fails at the
/// worst moment: the server has the request.
final class CuttableNetwork: Sendable {
  /// The fate of the response to an upload.
  enum Loss {
    case none
    /// The phone waits for it.
    case silent
    /// The connection is closed.
    case closing
  }

  /// The start of the request whose response is lost.
  private static let upload = Data("POST /uploadDiagnosisKeys".utf8)

  /// The address of the relay.
  let address: String
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let state: State

  private final class State: Sendable {
    let values = Mutex(
      (
        loss: Loss.none, uploads: 0, silent: [any Channel](),
        held: [(server: any Channel, data: ByteBuffer)]?.none
      ))
  }

  /// - Parameter server: The address of the server, with its port.
  init(to server: String) throws {
    let state = State()
    self.state = state
    let port = URL(string: server)?.port ?? 0
    let channel = try ServerBootstrap(group: group)
      .childChannelInitializer { inbound in
        let isCut = IsCut()
        return ClientBootstrap(group: inbound.eventLoop)
          .channelInitializer { outbound in
            outbound.eventLoop.makeCompletedFuture {
              try outbound.pipeline.syncOperations.addHandler(Responses(to: inbound, isCut))
            }
          }
          .connect(host: "127.0.0.1", port: port).flatMapThrowing { outbound in
            try inbound.pipeline.syncOperations.addHandler(Requests(to: outbound, state, isCut))
          }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    address = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  deinit {
    group.shutdownGracefully { _ in }
  }

  /// The number of uploads that the server received.
  var uploads: Int { state.values.withLock { $0.uploads } }

  /// Sets the fate of the responses to uploads from now on.
  func set(_ loss: Loss) {
    let silent = state.values.withLock { values in
      values.loss = loss
      defer { values.silent = [] }
      return values.silent
    }
    // A silent connection never comes back: the phone would wait for its timeout.
    for channel in silent { channel.close(promise: nil) }
  }

  /// Holds back everything that the phone sends, until `release()`.
  func hold() { state.values.withLock { $0.held = [] } }

  /// Passes on what was held back, in its order and before anything that the phone sends afterwards.
  func release() {
    // On the one event loop, where nothing is read meanwhile.
    group.next().execute { [state] in
      let held = state.values.withLock { values in
        defer { values.held = nil }
        return values.held ?? []
      }
      for (server, data) in held { server.writeAndFlush(data, promise: nil) }
    }
  }

  /// The number of parts of requests that are held back.
  var heldCount: Int { state.values.withLock { $0.held?.count ?? 0 } }

  /// True if no response of a connection arrives any more.
  private final class IsCut: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() { value.withLock { $0 = true } }
  }

  private final class Requests: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let server: any Channel
    private let state: State
    private let isCut: IsCut

    init(to server: any Channel, _ state: State, _ isCut: IsCut) {
      (self.server, self.state, self.isCut) = (server, state, isCut)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let buffer = unwrapInboundIn(data)
      if Data(buffer.readableBytesView).starts(with: CuttableNetwork.upload) {
        lose(on: context.channel)
      }
      let isHeld = state.values.withLock { values in
        values.held?.append((server, buffer))
        return values.held != nil
      }
      guard !isHeld else { return }
      server.writeAndFlush(buffer, promise: nil)
    }

    private func lose(on channel: any Channel) {
      let loss = state.values.withLock { values in
        values.uploads += 1
        if values.loss == .silent { values.silent.append(channel) }
        return values.loss
      }
      guard loss != .none else { return }
      isCut.set()
      if loss == .closing { channel.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) { server.close(promise: nil) }
  }

  private final class Responses: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: any Channel
    private let isCut: IsCut

    init(to client: any Channel, _ isCut: IsCut) {
      (self.client, self.isCut) = (client, isCut)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if !isCut.isSet { client.writeAndFlush(unwrapInboundIn(data), promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
      if !isCut.isSet { client.close(promise: nil) }
    }
  }
}
