// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A failure of the controller or of the connection to it.
///
/// The radio handles all of them alike: it opens the controller again and resets it. The text says what a
/// person can do.
public enum BluetoothError: Error, Equatable, Sendable {
  /// The controller could not be opened; the text says why and what to do.
  case unavailable(String)
  /// The connection to the controller ended.
  case disconnected
  /// The controller did not answer the command of this name in time.
  case noAnswer(String)
  /// The controller rejected the command of this name with this status.
  case rejected(String, status: UInt8)
  /// The controller reported a hardware error with this code.
  case hardwareError(UInt8)
  /// The controller restarted by itself.
  case restarted
  /// The stream contains bytes that are not HCI packets.
  case notHCI
  /// The controller has no Bluetooth Low Energy.
  case withoutLowEnergy
  /// The radio was stopped.
  case stopped
}

extension BluetoothError: CustomStringConvertible {
  /// The failure, its reason and what to do.
  public var description: String {
    switch self {
    case .unavailable(let reason): reason
    case .disconnected: "the connection to the controller ended: check its power and its cable"
    case .noAnswer(let command):
      "the controller did not answer \(command): check that the address is that of an HCI controller, and its speed"
    case .rejected(let command, let status):
      "the controller rejected \(command) with status \(status): another program may be using it"
    case .hardwareError(let code):
      "the controller reported hardware error \(code): if this repeats, update its firmware"
    case .restarted: "the controller restarted: if this repeats, check its power"
    case .notHCI:
      "the controller sends bytes that are not HCI: check the address, the speed and the framing (H4)"
    case .withoutLowEnergy: "the controller has no Bluetooth Low Energy: use another one"
    case .stopped: "the radio was stopped"
    }
  }
}

/// The limits and durations of the HCI host.
enum BluetoothLimit {
  /// The time that a controller has for a command. Controllers respond within milliseconds; a reset may
  /// take a second.
  static let commandSeconds: TimeInterval = 5
  /// The time for opening a TCP connection.
  static let connectSeconds: TimeInterval = 10
  /// The delay before the controller is opened again; it doubles after each failure.
  static let firstRetrySeconds: TimeInterval = 1
  /// The longest delay before the controller is opened again: a board that was plugged in again is used
  /// within a minute.
  static let longestRetrySeconds: TimeInterval = 60

  /// Bytes that are not HCI after which the controller is reset. A serial port may start with some, such as the
  /// output of a boot loader.
  static let skippedBytesMax = 1_024
  /// The content of a data packet; a larger one is noise. Data packets are dropped.
  static let dataPacketBytesMax = 4_096
  /// The bytes of one read. A user channel delivers one packet per read, which must fit.
  static let readBytesMax = 8_192
  /// Reads that are waiting to be parsed. A controller that sends faster than this is closed.
  static let waitingReadsMax = 1_024

  /// Beacons of one scan. Only a flood of false beacons exceeds it; further ones are dropped. The
  /// framework has the same limit.
  static let beaconsPerScan = 10_000
  /// Scans that are waiting to be stored. If storing takes longer, further ones are dropped.
  static let waitingScansMax = 8
}
