import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// The Bluetooth controllers of a town: one for each phone, as HCI over TCP on a port of loopback.
package final class ControllerServer: Sendable {
  private let air: TownAir
  private let names: [String]
  /// The number of connections that each controller has had.
  private let hosts = Mutex<[String: Int]>([:])
  private let channels: [NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>]

  /// Opens a port for each of `names`.
  ///
  /// - Throws: The error of the system if no port is free.
  package init(for names: [String], on air: TownAir) async throws {
    self.air = air
    self.names = names
    var channels: [NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>] = []
    for _ in names {
      channels.append(
        try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
          .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
          .bind(host: "127.0.0.1", port: 0) { channel in
            channel.eventLoop.makeCompletedFuture {
              try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
          })
    }
    self.channels = channels
  }

  /// The values of `--radio` by the name of the phone.
  package var addresses: [String: String] {
    Dictionary(
      uniqueKeysWithValues: zip(names, channels).map { name, channel in
        (name, "hci:127.0.0.1:\(channel.channel.localAddress?.port ?? 0)")
      })
  }

  /// Serves all controllers until the task is cancelled.
  package func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, channel) in zip(names, channels) {
        group.addTask { try await self.serve(name, channel) }
      }
      try await group.waitForAll()
    }
  }

  /// A controller has one host at a time: a phone that restarts may connect before its old connection has ended.
  private func serve(
    _ name: String, _ channel: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>
  ) async throws {
    try await channel.executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await connection in connections {
          let number = hosts.withLock { hosts in
            hosts[name, default: 0] += 1
            return hosts[name]
          }
          group.addTask {
            // The phone reconnects after an error.
            try? await self.drive(name, connection)
            if self.hosts.withLock({ $0[name] == number }) { self.air.set(nil, from: name) }
          }
        }
      }
    }
  }

  private func drive(
    _ name: String, _ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>
  ) async throws {
    try await connection.executeThenClose { inbound, outbound in
      var controller = SimulatedController()
      for try await bytes in inbound {
        guard
          let effect = controller.handle(
            bytes.readableBytesView, scan: { self.air.scan(by: name) })
        else { return }
        if case .sends(let beacon) = effect.change { air.set(beacon, from: name) }
        if !effect.packets.isEmpty {
          try await outbound.write(ByteBuffer(bytes: effect.packets))
        }
      }
    }
  }
}
