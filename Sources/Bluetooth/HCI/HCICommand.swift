// SPDX-License-Identifier: Apache-2.0
/// A command of the host to the controller.
///
/// Core Specification, Volume 4, Part E, 7.3 to 7.8. Only commands that every Low Energy controller since
/// version 4.0 has.
struct HCICommand: Equatable, Sendable {
  /// The name in the specification, for errors.
  let name: String
  /// The group (six bits) and the number in it (ten bits).
  let opcode: UInt16
  let parameters: [UInt8]

  /// The packet in H4 framing.
  var packet: [UInt8] {
    [1, UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8), UInt8(parameters.count)] + parameters
  }

  private init(_ name: String, _ opcode: UInt16, _ parameters: [UInt8] = []) {
    self.name = name
    self.opcode = opcode
    self.parameters = parameters
  }
}

extension HCICommand {
  /// "Command Disallowed": the status of a command that the controller does not accept in its state (Core
  /// Specification, Volume 1, Part F, 2.12).
  static let disallowedStatus: UInt8 = 0x0c

  /// Sets the controller to its initial state: no advertising, no scanning.
  static let reset = HCICommand("Reset", 0x0c03)
  /// Returns the version and the manufacturer.
  static let readLocalVersion = HCICommand("Read Local Version Information", 0x1001)
  /// Returns a bit for each feature, among them Low Energy.
  static let readLocalFeatures = HCICommand("Read Local Supported Features", 0x1003)
  /// Returns the power of advertisements in dBm.
  static let readTransmitPower = HCICommand("LE Read Advertising Channel Tx Power", 0x2007)

  /// Enables the events that the host handles: hardware errors (bit 15) and Low Energy (bit 61). Results
  /// of commands cannot be disabled.
  static let setEventMask = HCICommand("Set Event Mask", 0x0c01, [0, 0x80, 0, 0, 0, 0, 0, 0x20])
  /// Enables advertising reports (bit 1) and no other Low Energy event.
  static let setLowEnergyEventMask = HCICommand(
    "LE Set Event Mask", 0x2001, [0b10, 0, 0, 0, 0, 0, 0, 0])

  static func setRandomAddress(_ address: PrivateAddress) -> HCICommand {
    HCICommand("LE Set Random Address", 0x2005, address.bytes)
  }

  /// Non-connectable (ADV_NONCONN_IND), from the random address, on all three channels, to everyone.
  static let setAdvertisingParameters = HCICommand(
    "LE Set Advertising Parameters", 0x2006,
    words([AdvertisingInterval.shortest, AdvertisingInterval.longest])
      + [0x03, 0x01, 0x00] + [0, 0, 0, 0, 0, 0] + [0b111, 0x00])

  /// The payload has at most 31 bytes and is padded with zeros.
  static func setAdvertisingData(_ payload: [UInt8]) -> HCICommand {
    let padding = [UInt8](repeating: 0, count: max(0, 31 - payload.count))
    return HCICommand(
      "LE Set Advertising Data", 0x2008, [UInt8(clamping: payload.count)] + payload + padding)
  }

  static func setAdvertising(enabled: Bool) -> HCICommand {
    HCICommand("LE Set Advertising Enable", 0x200a, [enabled ? 1 : 0])
  }

  /// Passive and without pauses. A passive scanner sends nothing, so its address type (public) is
  /// never seen.
  static let setScanParameters = HCICommand(
    "LE Set Scan Parameters", 0x200b,
    [0x00] + words([ScanWindow.units, ScanWindow.units]) + [0x00, 0x00])

  /// Reports every beacon, also repeated ones: each has its own strength.
  static func setScan(enabled: Bool) -> HCICommand {
    HCICommand("LE Set Scan Enable", 0x200c, [enabled ? 1 : 0, 0])
  }

  private static func words(_ words: [UInt16]) -> [UInt8] {
    words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  }
}

/// The time between two advertisements, in units of 0.625 ms.
///
/// Exposure Notification Bluetooth Specification 1.2.2, "Broadcast": 200 to 270 ms.
private enum AdvertisingInterval {
  static let shortest: UInt16 = 320
  static let longest: UInt16 = 432
}

/// The time for which a scanner listens on one channel, in units of 0.625 ms: 60 ms.
private enum ScanWindow {
  static let units: UInt16 = 96
}
