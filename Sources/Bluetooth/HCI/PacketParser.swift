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
