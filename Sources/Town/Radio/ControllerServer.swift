// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOPosix
import Populations
import Simulation
import Synchronization

/// The Bluetooth controllers of a town: one for each phone, as HCI over TCP on a port of loopback.
package final class ControllerServer: Sendable {
  private let air: SimulatedAir<ControllerBeacon>
  private let received: ReceptionLog
  private let names: [String]
  /// The random numbers of each controller: a phone that reconnects does not repeat its receptions.
  private let generators = Mutex<[String: StreamGenerator]>([:])
  /// The number of connections that each controller has had.
  private let hosts = Mutex<[String: Int]>([:])
  private let channels: [NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>]

  /// Opens a port for each of `names`.
  ///
  /// - Parameters:
  ///   - names: The names of the phones.
  ///   - air: The radio channel of all controllers.
  ///   - received: The log of their receptions.
  /// - Throws: The error of the system if no port is free.
  package init(
    for names: [String], on air: SimulatedAir<ControllerBeacon>, noting received: ReceptionLog
  ) async throws {
    self.air = air
    self.received = received
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
        let effect = controller.handle(bytes.readableBytesView) {
          let receptions = generators.withLock { generators in
            air.scan(by: name, &generators[name, default: air.generator(of: name)])
          }
          received.note(receptions, by: name)
          return receptions
        }
        guard let effect else { return }
        if case .sends(let beacon) = effect.change { air.set(beacon, from: name) }
        if !effect.packets.isEmpty {
          try await outbound.write(ByteBuffer(bytes: effect.packets))
        }
      }
    }
  }
}

/// An advertisement with the address that it is sent from.
package struct ControllerBeacon: Hashable, Sendable {
  let address: [UInt8]
  let payload: [UInt8]
}

/// A Bluetooth controller with the commands that `HCIRadio` uses, as a state machine: packets in, packets out.
///
/// Core Specification, Volume 4, Part E. A scan reports all its receptions at once, so that it works at any speed of
/// the clock.
struct SimulatedController {
  /// A change of what the controller sends.
  enum Change: Equatable {
    case sends(ControllerBeacon?)
  }

  /// The effect of received bytes.
  struct Effect: Equatable {
    /// The packets for the host, in order.
    var packets: [UInt8] = []
    var change: Change?
  }

  private var buffer: [UInt8] = []
  private var address: [UInt8] = []
  private var payload: [UInt8] = []
  private var isAdvertising = false
  private var isScanning = false

  /// Handles bytes of the host, which may be cut anywhere.
  ///
  /// - Parameter scan: The receptions of a scan that starts.
  /// - Returns: `nil` if the bytes are not HCI commands: the connection has to be closed.
  mutating func handle(
    _ bytes: some Sequence<UInt8>, scan: () -> [SimulatedAir<ControllerBeacon>.Reception]
  ) -> Effect? {
    buffer.append(contentsOf: bytes)
    var effect = Effect()
    while let type = buffer.first {
      guard type == Packet.command else { return nil }
      guard buffer.count >= Packet.headerBytes else { break }
      let length = Packet.headerBytes + Int(buffer[3])
      guard buffer.count >= length else { break }
      let opcode = UInt16(buffer[1]) | UInt16(buffer[2]) << 8
      let parameters = Array(buffer[Packet.headerBytes..<length])
      buffer.removeFirst(length)
      execute(opcode, parameters, scan: scan, &effect)
    }
    return effect
  }

  private mutating func execute(
    _ opcode: UInt16, _ parameters: [UInt8],
    scan: () -> [SimulatedAir<ControllerBeacon>.Reception], _ effect: inout Effect
  ) {
    guard let result = result(opcode, parameters) else {
      effect.packets += Self.complete(opcode, [Status.unknownCommand])
      return
    }
    effect.packets += Self.complete(opcode, result)
    guard result.first == Status.success else { return }
    switch opcode {
    case Opcode.reset:
      (isAdvertising, isScanning) = (false, false)
      effect.change = .sends(nil)
    case Opcode.setRandomAddress: address = parameters
    case Opcode.setAdvertisingData:
      payload = Array(parameters.dropFirst().prefix(Int(parameters.first ?? 0)))
    case Opcode.setAdvertising:
      isAdvertising = parameters.first == 1
      effect.change = .sends(
        isAdvertising ? ControllerBeacon(address: address, payload: payload) : nil)
    case Opcode.setScan:
      isScanning = parameters.first == 1
      if isScanning { effect.packets += scan().flatMap(Self.report) }
    default: break
    }
  }

  /// The status and the return parameters; `nil` for a command that this controller does not have.
  private func result(_ opcode: UInt16, _ parameters: [UInt8]) -> [UInt8]? {
    switch opcode {
    case Opcode.readLocalVersion: [Status.success, 12, 0, 0, 12, 0xff, 0xff, 0, 0]
    // "LE Supported (Controller)" is bit 38.
    case Opcode.readLocalFeatures: [Status.success, 0, 0, 0, 0, 0b0100_0000, 0, 0, 0]
    case Opcode.readTransmitPower: [Status.success, 0]
    case Opcode.setRandomAddress:
      isAdvertising || isScanning || parameters.count != Packet.addressBytes
        ? [Status.disallowed] : [Status.success]
    case Opcode.setScanParameters: isScanning ? [Status.disallowed] : [Status.success]
    case Opcode.setAdvertising:
      parameters.first == 1 && address.isEmpty ? [Status.disallowed] : [Status.success]
    case Opcode.setAdvertisingData:
      parameters.count == Packet.advertisingDataBytes
        && parameters[0] < Packet.advertisingDataBytes
        ? [Status.success] : [Status.invalidParameters]
    case Opcode.reset, Opcode.setEventMask, Opcode.setLowEnergyEventMask,
      Opcode.setAdvertisingParameters, Opcode.setScan:
      [Status.success]
    default: nil
    }
  }

  /// A Command Complete event that allows one more command.
  private static func complete(_ opcode: UInt16, _ result: [UInt8]) -> [UInt8] {
    event(0x0e, [1, UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8)] + result)
  }

  /// An LE Advertising Report event: non-connectable, from a random address.
  private static func report(_ reception: SimulatedAir<ControllerBeacon>.Reception) -> [UInt8] {
    let (beacon, strength) = (reception.beacon, reception.signalStrength)
    return event(
      0x3e,
      [2, 1, 3, 1] + beacon.address + [UInt8(beacon.payload.count)] + beacon.payload
        + [UInt8(bitPattern: strength)])
  }

  private static func event(_ code: UInt8, _ content: [UInt8]) -> [UInt8] {
    [Packet.event, code, UInt8(content.count)] + content
  }
}

/// The framing H4 (Volume 4, Part A).
private enum Packet {
  static let command: UInt8 = 1
  static let event: UInt8 = 4
  static let headerBytes = 4
  static let addressBytes = 6
  static let advertisingDataBytes = 32
}

private enum Status {
  static let success: UInt8 = 0x00
  static let unknownCommand: UInt8 = 0x01
  static let disallowed: UInt8 = 0x0c
  static let invalidParameters: UInt8 = 0x12
}

private enum Opcode {
  static let reset: UInt16 = 0x0c03
  static let setEventMask: UInt16 = 0x0c01
  static let readLocalVersion: UInt16 = 0x1001
  static let readLocalFeatures: UInt16 = 0x1003
  static let setLowEnergyEventMask: UInt16 = 0x2001
  static let setRandomAddress: UInt16 = 0x2005
  static let setAdvertisingParameters: UInt16 = 0x2006
  static let readTransmitPower: UInt16 = 0x2007
  static let setAdvertisingData: UInt16 = 0x2008
  static let setAdvertising: UInt16 = 0x200a
  static let setScanParameters: UInt16 = 0x200b
  static let setScan: UInt16 = 0x200c
}
