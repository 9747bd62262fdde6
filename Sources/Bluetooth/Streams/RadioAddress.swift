// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The place of a Bluetooth controller, as the value of `--radio`.
///
/// ```
/// hci:HOST:PORT           a TCP connection that carries HCI with H4 framing, such as a virtual controller's
/// hci:/dev/ttyX[,SPEED]   a serial port with hardware flow control
/// hci:user:N              the Linux user channel of controller hciN
/// ```
public enum RadioAddress: Hashable, Sendable {
  /// A TCP connection.
  case tcp(host: String, port: UInt16)
  /// A serial port and its speed in bits per second.
  case serial(path: String, speed: UInt32)
  /// The number of a controller that the kernel hands over as a whole.
  case userChannel(UInt16)

  /// Parses the value of `--radio`.
  ///
  /// - Throws: `RadioAddressError` with a sentence that says what to change.
  public init(_ text: String) throws(RadioAddressError) {
    guard text.hasPrefix(Self.prefix) else { throw RadioAddressError(text, Self.forms) }
    let rest = String(text.dropFirst(Self.prefix.count))
    if rest.hasPrefix("/") {
      self = try Self.serial(rest, in: text)
    } else if rest.hasPrefix(Self.userPrefix) {
      guard let number = UInt16(rest.dropFirst(Self.userPrefix.count)) else {
        throw RadioAddressError(text, "expected the number of a controller, as in hci:user:0")
      }
      self = .userChannel(number)
    } else {
      self = try Self.tcp(rest, in: text)
    }
  }

  /// The speeds of a serial port, in bits per second.
  public static let serialSpeeds: [UInt32] = [
    9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600, 1_000_000, 2_000_000,
    3_000_000,
  ]
  /// The speed of a serial port if none is given; development boards start with it.
  public static let defaultSerialSpeed: UInt32 = 115_200

  private static let prefix = "hci:"
  private static let userPrefix = "user:"
  private static let forms = "expected hci:HOST:PORT, hci:/dev/ttyX[,SPEED] or hci:user:N"

  private static func serial(
    _ rest: String, in text: String
  ) throws(RadioAddressError) -> RadioAddress {
    let parts = rest.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return .serial(path: rest, speed: defaultSerialSpeed) }
    guard let speed = UInt32(parts[1]), serialSpeeds.contains(speed) else {
      let speeds = serialSpeeds.map(String.init).joined(separator: ", ")
      throw RadioAddressError(text, "expected one of these speeds after the comma: \(speeds)")
    }
    return .serial(path: String(parts[0]), speed: speed)
  }

  /// An IPv6 address has square brackets, because it contains colons.
  private static func tcp(
    _ rest: String, in text: String
  ) throws(RadioAddressError) -> RadioAddress {
    guard let colon = rest.lastIndex(of: ":") else { throw RadioAddressError(text, forms) }
    var host = String(rest[..<colon])
    guard let port = UInt16(rest[rest.index(after: colon)...]), port > 0 else {
      throw RadioAddressError(text, "expected a port from 1 to 65535 after the last colon")
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
    } else if host.contains(":") {
      throw RadioAddressError(
        text, "write an IPv6 address in square brackets, as in hci:[::1]:9001")
    }
    guard !host.isEmpty else { throw RadioAddressError(text, forms) }
    return .tcp(host: host, port: port)
  }
}

extension RadioAddress: CustomStringConvertible {
  /// The address in the form that `init(_:)` parses.
  public var description: String {
    switch self {
    case .tcp(let host, let port):
      host.contains(":") ? "hci:[\(host)]:\(port)" : "hci:\(host):\(port)"
    case .serial(let path, Self.defaultSerialSpeed): "hci:\(path)"
    case .serial(let path, let speed): "hci:\(path),\(speed)"
    case .userChannel(let number): "hci:user:\(number)"
    }
  }
}

/// A value of `--radio` that is not the address of a controller.
public struct RadioAddressError: Error, Equatable, CustomStringConvertible {
  /// The problem and its solution.
  public let description: String

  init(_ text: String, _ need: String) {
    // An address is short; a long or binary value is not repeated in the message.
    let isShort = text.count <= Self.quotedCharactersMax && text.utf8.allSatisfy { $0 >= 0x20 }
    description = "The radio\(isShort ? " \"\(text)\"" : ""): \(need)."
  }

  private static let quotedCharactersMax = 100
}
