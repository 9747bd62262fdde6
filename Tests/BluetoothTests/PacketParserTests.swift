// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Bluetooth

/// Packets as other implementations write them: the first two are of a RootCanal controller.
@Suite("HCI packets")
struct PacketParserTests {
  private static let resetComplete: [UInt8] = [0x04, 0x0e, 0x04, 0x01, 0x03, 0x0c, 0x00]
  private static let invalidParameters: [UInt8] = [0x04, 0x0e, 0x04, 0x01, 0x0c, 0x20, 0x12]
  private static let stream =
    resetComplete + invalidParameters + Event.commandStatus(0x1001, status: 0x0c)
    + Event.hardwareError(0x42) + Event.reports([Event.report([1, 2, 3])]) + Event.event(0x13, [0])

  private static let events: [HCIEvent] = [
    .commandComplete(credits: 1, opcode: 0x0c03, result: [0]),
    .commandComplete(credits: 1, opcode: 0x200c, result: [0x12]),
    .commandStatus(status: 0x0c, credits: 1, opcode: 0x1001),
    .hardwareError(0x42),
    .advertisingReports([1] + Event.report([1, 2, 3])),
    .other(code: 0x13),
  ]

  @Test("A stream that is cut into pieces of any size gives the same events")
  func pieces() {
    for size in 1...Self.stream.count {
      var parser = PacketParser()
      var events: [HCIEvent] = []
      for start in stride(from: 0, to: Self.stream.count, by: size) {
        events += parser.events(in: Self.stream[start..<min(start + size, Self.stream.count)])
      }
      #expect(events == Self.events)
      #expect(parser.skippedByteCount == 0)
    }
  }

  @Test("Noise before and between packets is skipped and counted")
  func noise() {
    let noise: [[UInt8]] = [
      [0], [1], [0xff, 0xfe, 0x00], [0x04, 0x00], [0x04, 0x70, 0x00], [0x04, 0x0e, 0x00],
      [0x04, 0x0f, 0x20], [0x04, 0x10, 0x07], [0x02, 0xff, 0xff, 0xff, 0xff],
      Array("boot\r\n".utf8),
    ]
    for noise in noise {
      var parser = PacketParser()
      let events = parser.events(in: noise + Self.resetComplete + noise + Self.invalidParameters)
      #expect(events == Array(Self.events.prefix(2)), "\(noise)")
      #expect(parser.skippedByteCount == 2 * noise.count)
    }
  }

  @Test("Data packets are dropped and the events after them are found")
  func data() {
    let packets: [[UInt8]] = [
      [2, 0x40, 0x20, 3, 0, 4, 4, 4], [3, 0x40, 0x00, 2, 4, 4], [5, 0x40, 0x00, 1, 0, 4],
    ]
    var parser = PacketParser()
    #expect(parser.events(in: packets.joined() + Self.resetComplete) == [Self.events[0]])
    #expect(parser.skippedByteCount == 0)
  }

  @Test("A data packet may have as many bytes as the limit, and not one more")
  func dataLimit() {
    let limit = BluetoothLimit.dataPacketBytesMax
    for (count, isPacket) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
      var parser = PacketParser()
      let header: [UInt8] = [2, 0, 0, UInt8(count & 0xff), UInt8(count >> 8)]
      let packet = header + [UInt8](repeating: 0, count: count)
      _ = parser.events(in: packet)
      #expect(parser.skippedByteCount == (isPacket ? 0 : packet.count))
    }
  }

  @Test("Commands have the bytes of the specification")
  func commands() {
    #expect(HCICommand.reset.packet == [0x01, 0x03, 0x0c, 0x00])
    #expect(
      HCICommand.setAdvertisingParameters.packet == [
        0x01, 0x06, 0x20, 15, 0x40, 0x01, 0xb0, 0x01, 0x03, 0x01, 0x00, 0, 0, 0, 0, 0, 0, 0x07,
        0x00,
      ])
    #expect(
      HCICommand.setScanParameters.packet == [
        0x01, 0x0b, 0x20, 7, 0x00, 0x60, 0x00, 0x60, 0x00, 0x00, 0x00,
      ])
    #expect(HCICommand.setScan(enabled: true).packet == [0x01, 0x0c, 0x20, 2, 0x01, 0x00])
    let data = HCICommand.setAdvertisingData([9, 8]).packet
    #expect(data == [0x01, 0x08, 0x20, 32, 2, 9, 8] + [UInt8](repeating: 0, count: 29))
  }
}
