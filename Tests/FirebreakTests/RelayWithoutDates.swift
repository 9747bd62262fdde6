// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOPosix

/// A TCP relay to a server whose responses lose the header `Date`: a phone behind it cannot compare its clock with the
/// server's, so that a test can let time pass for the phone alone.
final class RelayWithoutDates: Sendable {
  /// The address of the relay.
  let address: String
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  /// - Parameter server: The address of the server, with its port.
  init(to server: String) throws {
    let port = URL(string: server)?.port ?? 0
    let channel = try ServerBootstrap(group: group)
      .childChannelInitializer { inbound in
        ClientBootstrap(group: inbound.eventLoop)
          .channelInitializer { outbound in
            outbound.eventLoop.makeCompletedFuture {
              try outbound.pipeline.syncOperations.addHandler(
                Forwarding(to: inbound, removesDates: true))
            }
          }
          .connect(host: "127.0.0.1", port: port).flatMapThrowing { outbound in
            try inbound.pipeline.syncOperations.addHandler(
              Forwarding(to: outbound, removesDates: false))
          }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    address = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  deinit {
    group.shutdownGracefully { _ in }
  }

  private final class Forwarding: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let target: any Channel
    private let removesDates: Bool

    init(to target: any Channel, removesDates: Bool) {
      (self.target, self.removesDates) = (target, removesDates)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      if removesDates { removeDate(in: &buffer) }
      target.writeAndFlush(buffer, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { target.close(promise: nil) }

    /// Renames the header, so that the length stays. The head of a response arrives as a whole on the loopback.
    private func removeDate(in buffer: inout ByteBuffer) {
      let content = Data(buffer.readableBytesView)
      for header in ["\r\nDate: ", "\r\ndate: "] {
        guard let found = content.range(of: Data(header.utf8)) else { continue }
        let offset = content.distance(from: content.startIndex, to: found.lowerBound) + 2
        buffer.setString("X", at: buffer.readerIndex + offset)
      }
    }
  }
}
