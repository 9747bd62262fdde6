// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A failure of the controller or of the connection to it.
///
/// The radio handles all of them alike: it opens the controller again and resets it. The text says what a
/// person can do.
public struct BluetoothError: Error, Hashable, Sendable {
  /// The kind of an error. Later versions may add kinds, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    fileprivate enum Kind: String {
      case unavailable, disconnected, noAnswer, rejected, hardwareError, restarted, notHCI
      case withoutLowEnergy, stopped
    }

    fileprivate let kind: Kind

    /// The controller could not be opened; the error's description says why and what to do.
    public static let unavailable = Self(kind: .unavailable)
    /// The connection to the controller ended.
    public static let disconnected = Self(kind: .disconnected)
    /// The controller did not answer a command in time.
    public static let noAnswer = Self(kind: .noAnswer)
    /// The controller rejected a command.
    public static let rejected = Self(kind: .rejected)
    /// The controller reported a hardware error.
    public static let hardwareError = Self(kind: .hardwareError)
    /// The controller restarted by itself.
    public static let restarted = Self(kind: .restarted)
    /// The stream contains bytes that are not HCI packets.
    public static let notHCI = Self(kind: .notHCI)
    /// The controller has no Bluetooth Low Energy.
    public static let withoutLowEnergy = Self(kind: .withoutLowEnergy)
    /// The radio was stopped.
    public static let stopped = Self(kind: .stopped)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of error.
  public let code: Code
  /// The failure, its reason and what to do.
  public let description: String
  /// The name of the command that was rejected or not answered.
  public let command: String?
  /// The status of a rejected command, or the number of a hardware error.
  public let status: UInt8?

  private init(
    _ code: Code, _ description: String, command: String? = nil, status: UInt8? = nil
  ) {
    self.code = code
    self.description = description
    self.command = command
    self.status = status
  }
}

extension BluetoothError: CustomStringConvertible {
  /// The controller could not be opened; `reason` says why and what to do.
  public static func unavailable(_ reason: String) -> Self { Self(.unavailable, reason) }

  /// The connection to the controller ended.
  public static let disconnected = Self(
    .disconnected, "the connection to the controller ended: check its power and its cable")

  /// The controller did not answer `command` in time.
  public static func noAnswer(_ command: String) -> Self {
    Self(
      .noAnswer,
      "the controller did not answer \(command): check that the address is that of an HCI controller, and its speed",
      command: command)
  }

  /// The controller rejected `command` with this status.
  public static func rejected(_ command: String, status: UInt8) -> Self {
    Self(
      .rejected,
      "the controller rejected \(command) with status \(status): another program may be using it",
      command: command, status: status)
  }

  /// The controller reported a hardware error with this number.
  public static func hardwareError(_ number: UInt8) -> Self {
    Self(
      .hardwareError,
      "the controller reported hardware error \(number): if this repeats, update its firmware",
      status: number)
  }

  /// The controller restarted by itself.
  public static let restarted = Self(
    .restarted, "the controller restarted: if this repeats, check its power")

  /// The stream contains bytes that are not HCI packets.
  public static let notHCI = Self(
    .notHCI,
    "the controller sends bytes that are not HCI: check the address, the speed and the framing (H4)"
  )

  /// The controller has no Bluetooth Low Energy.
  public static let withoutLowEnergy = Self(
    .withoutLowEnergy, "the controller has no Bluetooth Low Energy: use another one")

  /// The radio was stopped.
  public static let stopped = Self(.stopped, "the radio was stopped")
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
