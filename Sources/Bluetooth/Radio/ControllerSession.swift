import ExposureKeys
import World

/// The setup of one open controller, and the state that it is in.
///
/// The commands of one change follow each other without interruption, because one task runs them all.
struct ControllerSession {
  private let host: HCIHost

  init(host: HCIHost) {
    self.host = host
  }

  /// Resets the controller and checks its features.
  ///
  /// A reset ends advertising and scanning, but not every controller does that.
  func start() async throws(BluetoothError) -> ControllerDescription {
    _ = try await host.send(.reset)
    let version = try await host.send(.readLocalVersion)
    let features = try await host.send(.readLocalFeatures)
    guard ControllerDescription.hasLowEnergy(features: features) else { throw .withoutLowEnergy }
    try await setEventMasks()
    try await send(nil)
    try await stopScan()
    return ControllerDescription(version: version, transmitPower: try await transmitPower())
  }

  /// Sends `beacon` instead of the previous one; nil to send none.
  ///
  /// Advertising stops before the address changes and starts after the data has changed, so that neither
  /// is ever sent with the other one's previous value.
  func send(_ beacon: Beacon?) async throws(BluetoothError) {
    _ = try await host.send(.setAdvertising(enabled: false))
    guard let beacon else { return }
    _ = try await host.send(.setAdvertisingParameters)
    _ = try await host.send(.setRandomAddress(beacon.address))
    _ = try await host.send(.setAdvertisingData(beacon.advertisement.payload))
    _ = try await host.send(.setAdvertising(enabled: true))
  }

  /// Starts a scan.
  ///
  /// Sets everything again first, with the same `beacon`: a controller that restarted without notice then
  /// works again. Beacons that were received before are dropped.
  func startScan(sending beacon: Beacon?) async throws(BluetoothError) {
    try await setEventMasks()
    try await send(beacon)
    try await stopScan()
    _ = try await host.send(.setScanParameters)
    _ = await host.takeBeacons()
    _ = try await host.send(.setScan(enabled: true))
  }

  /// Ends a scan, if there is one, and returns its beacons.
  @discardableResult
  func stopScan() async throws(BluetoothError) -> ReceivedBeacons {
    _ = try await host.send(.setScan(enabled: false))
    return await host.takeBeacons()
  }

  /// Stops advertising and scanning, as far as the controller still responds.
  func turnOff() async {
    do throws(BluetoothError) {
      try await send(nil)
      _ = try await host.send(.reset)
    } catch {
      // A controller that does not respond cannot be turned off; its next host resets it.
    }
  }

  private func setEventMasks() async throws(BluetoothError) {
    _ = try await host.send(.setEventMask)
    _ = try await host.send(.setLowEnergyEventMask)
  }

  /// The command is optional, so a rejection is no failure.
  private func transmitPower() async throws(BluetoothError) -> Int8? {
    do throws(BluetoothError) {
      return try await host.send(.readTransmitPower).first.map(Int8.init(bitPattern:))
    } catch .rejected {
      return nil
    }
  }
}

/// An advertisement with the address that it is sent from. Both are replaced together.
struct Beacon: Equatable, Sendable {
  let advertisement: Advertisement
  let address: PrivateAddress
}

/// A controller, as it describes itself.
public struct ControllerDescription: Hashable, Sendable {
  /// The version of HCI: 6 for Bluetooth 4.0, 12 for 5.3.
  public let version: UInt8
  /// The company identifier of the manufacturer, as assigned by the Bluetooth SIG.
  public let manufacturer: UInt16
  /// The power of advertisements in dBm; nil if the controller does not say.
  public let transmitPower: Int8?

  /// Parses the return parameters of Read Local Version Information; missing bytes count as 0.
  init(version bytes: [UInt8], transmitPower: Int8?) {
    let bytes = bytes + [UInt8](repeating: 0, count: 8)
    version = bytes[0]
    manufacturer = UInt16(bytes[4]) | UInt16(bytes[5]) << 8
    self.transmitPower = transmitPower
  }

  /// Returns `true` if the features contain "LE Supported (Controller)", bit 38.
  static func hasLowEnergy(features: [UInt8]) -> Bool {
    features.count > 4 && features[4] & 0b0100_0000 != 0
  }
}
