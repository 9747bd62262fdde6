import Foundation

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
