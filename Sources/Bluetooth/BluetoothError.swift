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
