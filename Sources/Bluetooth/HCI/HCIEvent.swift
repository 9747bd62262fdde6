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
