// SPDX-License-Identifier: Apache-2.0
import ExposureKeys

/// An event of the controller that the host handles.
///
/// Core Specification, Volume 4, Part E, 7.7.
enum HCIEvent: Equatable, Sendable {
  /// The result of a command: its status and then its return parameters. The controller accepts
  /// `credits` more commands. Opcode 0 reports only the credits.
  case commandComplete(credits: UInt8, opcode: UInt16, result: [UInt8])
  /// The controller rejected a command, or started it if `status` is 0.
  case commandStatus(status: UInt8, credits: UInt8, opcode: UInt16)
  /// The controller failed and needs a reset.
  case hardwareError(UInt8)
  /// The content of an LE Advertising Report after its subevent code.
  case advertisingReports([UInt8])
  /// Any other event, or one that is too short for its code.
  case other(code: UInt8)

  private enum Code {
    static let commandComplete: UInt8 = 0x0e
    static let commandStatus: UInt8 = 0x0f
    static let hardwareError: UInt8 = 0x10
    static let lowEnergy: UInt8 = 0x3e
    static let vendor: UInt8 = 0xff
    /// The codes of the specification.
    static let assigned: ClosedRange<UInt8> = 0x01...0x5f
    static let advertisingReport: UInt8 = 0x02
  }

  /// Returns `true` if an event can have this code.
  static func isCode(_ code: UInt8) -> Bool {
    Code.assigned.contains(code) || code == Code.vendor
  }

  /// Returns `true` if an event with this code can have this many bytes.
  static func isPlausible(code: UInt8, byteCount: Int) -> Bool {
    switch code {
    case Code.commandComplete: byteCount >= 3
    case Code.commandStatus: byteCount == 4
    case Code.hardwareError: byteCount == 1
    case Code.lowEnergy: byteCount >= 1
    default: isCode(code)
    }
  }

  /// Parses an event packet with its type and length; nil for packets of other types.
  init?(packet: ArraySlice<UInt8>) {
    guard packet.first == 4, packet.count >= 3 else { return nil }
    let content = Array(packet.dropFirst(3))
    let code = packet[packet.startIndex + 1]
    switch code {
    case Code.commandComplete where content.count >= 3:
      self = .commandComplete(
        credits: content[0], opcode: Self.opcode(content[1...]), result: Array(content[3...]))
    case Code.commandStatus where content.count == 4:
      self = .commandStatus(
        status: content[0], credits: content[1], opcode: Self.opcode(content[2...]))
    case Code.hardwareError where content.count == 1:
      self = .hardwareError(content[0])
    case Code.lowEnergy where content.first == Code.advertisingReport:
      self = .advertisingReports(Array(content[1...]))
    default: self = .other(code: code)
    }
  }

  /// The first two bytes, little endian.
  private static func opcode(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    UInt16(bytes[bytes.startIndex]) | UInt16(bytes[bytes.startIndex + 1]) << 8
  }
}

/// An advertisement that a controller received.
///
/// Core Specification, Volume 4, Part E, 7.7.65.2 "LE Advertising Report event".
struct AdvertisingReport: Equatable, Sendable {
  /// The address of the sender, least significant byte first.
  let address: [UInt8]
  /// The payload, at most 31 bytes.
  let payload: [UInt8]
  /// The received signal strength, in dBm.
  let signalStrength: Int8
}

/// The reports of one event, and the number of those that were malformed.
struct AdvertisingReports: Equatable, Sendable {
  private(set) var reports: [AdvertisingReport] = []
  /// The reports that were cut off or had impossible values.
  private(set) var malformedCount = 0

  private enum Field {
    static let reportCounts: ClosedRange<UInt8> = 1...25
    static let addressByteCount = 6
    static let payloadByteCountMax = 31
    /// Type, address type, address and the length of the payload.
    static let headerByteCount = 9
    /// Advertisements; a scan response (4) answers requests, which a passive scanner does not send.
    static let types: ClosedRange<UInt8> = 0...3
    static let scanResponse: UInt8 = 4
    static let signalStrengths: ClosedRange<Int8> = -127...20
  }

  /// Parses the content of an event after its subevent code.
  ///
  /// A report with an impossible value is skipped. One that does not fit into the event ends it, since
  /// the start of the next one is unknown.
  init(content: [UInt8]) {
    guard let count = content.first, Field.reportCounts.contains(count) else {
      malformedCount = 1
      return
    }
    var rest = content.dropFirst()
    for index in 0..<Int(count) {
      guard rest.count > Field.headerByteCount - 1 else {
        malformedCount += Int(count) - index
        return
      }
      let header = Array(rest.prefix(Field.headerByteCount))
      let length = Int(header[8])
      rest = rest.dropFirst(Field.headerByteCount)
      guard rest.count > length else {
        malformedCount += Int(count) - index
        return
      }
      add(header: header, payload: rest.prefix(length), strength: rest[rest.startIndex + length])
      rest = rest.dropFirst(length + 1)
    }
    if !rest.isEmpty { malformedCount += 1 }
  }

  private mutating func add(header: [UInt8], payload: ArraySlice<UInt8>, strength: UInt8) {
    guard header[0] != Field.scanResponse else { return }
    let strength = Int8(bitPattern: strength)
    // A beacon without strength tells nothing about the distance.
    guard strength != Sighting.unavailableSignalStrength else { return }
    guard Field.types.contains(header[0]), Field.signalStrengths.contains(strength),
      payload.count <= Field.payloadByteCountMax
    else {
      malformedCount += 1
      return
    }
    reports.append(
      AdvertisingReport(
        address: Array(header[2..<(2 + Field.addressByteCount)]), payload: Array(payload),
        signalStrength: strength))
  }
}

/// Splits a byte stream of a controller into HCI packets.
///
/// Core Specification, Volume 4, Part A ("UART Transport Layer", H4): a packet starts with its type. The
/// stream may be cut anywhere. Bytes that cannot start a packet are skipped and counted, because a serial
/// port can begin with noise; the host resets the controller if there are too many.
struct PacketParser {
  /// The number of bytes that were skipped, because no packet starts with them.
  private(set) var skippedByteCount = 0
  private var buffer: [UInt8] = []

  /// Adds received bytes and returns the events that are complete.
  ///
  /// Data packets are dropped: a host without connections expects none.
  mutating func events(in bytes: some Sequence<UInt8>) -> [HCIEvent] {
    buffer.append(contentsOf: bytes)
    var events: [HCIEvent] = []
    var start = 0
    while start < buffer.count {
      switch Self.step(buffer[start...]) {
      case .packet(let length):
        let packet = buffer[start..<(start + length)]
        start += length
        if let event = HCIEvent(packet: packet) { events.append(event) }
      case .noPacket:
        skippedByteCount += 1
        start += 1
      case .needsMore:
        buffer.removeFirst(start)
        return events
      }
    }
    buffer.removeAll(keepingCapacity: true)
    return events
  }

  private enum Step {
    /// A complete packet of this many bytes, including its type.
    case packet(Int)
    case noPacket
    case needsMore
  }

  /// The next step for bytes that are not empty.
  private static func step(_ bytes: ArraySlice<UInt8>) -> Step {
    let start = bytes.startIndex
    guard let type = PacketType(rawValue: bytes[start]) else { return .noPacket }
    guard bytes.count >= type.headerByteCount else {
      let codeIsKnown = bytes.count < 2 || type != .event || HCIEvent.isCode(bytes[start + 1])
      return codeIsKnown ? .needsMore : .noPacket
    }
    guard let content = type.contentByteCount(header: bytes.prefix(type.headerByteCount)) else {
      return .noPacket
    }
    let length = type.headerByteCount + content
    return bytes.count < length ? .needsMore : .packet(length)
  }
}

/// The first byte of a packet that a controller sends.
private enum PacketType: UInt8 {
  case asynchronousData = 2
  case synchronousData = 3
  case event = 4
  case isochronousData = 5

  /// The size of the type, the handle or the code, and the length.
  var headerByteCount: Int {
    switch self {
    case .event: 3
    case .synchronousData: 4
    case .asynchronousData, .isochronousData: 5
    }
  }

  /// The size of the content; nil if the header cannot be that of a packet.
  func contentByteCount(header: ArraySlice<UInt8>) -> Int? {
    let bytes = Array(header)
    switch self {
    case .event:
      return HCIEvent.isPlausible(code: bytes[1], byteCount: Int(bytes[2])) ? Int(bytes[2]) : nil
    case .synchronousData: return Int(bytes[3])
    case .asynchronousData, .isochronousData:
      let count = Int(bytes[3]) | Int(bytes[4]) << 8
      return count <= BluetoothLimit.dataPacketBytesMax ? count : nil
    }
  }
}
