// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Secrets
import TextEncodings
import World

/// The setup of one open controller, and the state that it is in.
///
/// The commands of one change follow each other without interruption, because one task runs them all.
/// Controllers differ in the commands that they reject in the wrong state: some reject "scan off" while they
/// do not scan. A rejected command that turns off what is off already has done its work.
struct ControllerSession: Sendable {
  private let host: HCIHost
  /// False if the controller does not scan. An opened controller may still scan for its previous host.
  private(set) var isScanning = true

  init(host: HCIHost) {
    self.host = host
  }

  /// Resets the controller and checks its features.
  ///
  /// A reset ends advertising and scanning, but not every controller does that.
  mutating func start() async throws(BluetoothError) -> ControllerDescription {
    _ = try await host.send(.reset)
    let version = try await host.send(.readLocalVersion)
    let features = try await host.send(.readLocalFeatures)
    guard ControllerDescription.hasLowEnergy(features: features) else { throw .withoutLowEnergy }
    try await setEventMasks()
    try await stopScan()
    try await send(nil)
    return ControllerDescription(version: version, transmitPower: try await transmitPower())
  }

  /// Sends `beacon` instead of the previous one; nil to send none.
  ///
  /// Advertising stops before the address changes and starts after the data has changed, so that neither
  /// is ever sent with the other one's previous value. A scan in progress is interrupted, because the
  /// address cannot be changed during a scan.
  mutating func change(to beacon: Beacon?) async throws(BluetoothError) {
    let isInterrupted = isScanning
    if isInterrupted { try await endScanning() }
    try await send(beacon)
    if isInterrupted { try await beginScanning() }
  }

  private func send(_ beacon: Beacon?) async throws(BluetoothError) {
    try await turnOff(.setAdvertising(enabled: false))
    guard let beacon else { return }
    let off = [HCICommand.setAdvertising(enabled: false), .setScan(enabled: false)]
    try await send(.setAdvertisingParameters, after: off)
    try await send(.setRandomAddress(beacon.address), after: off)
    try await send(.setAdvertisingData(beacon.advertisement.payload), after: off)
    try await send(.setAdvertising(enabled: true), after: off)
  }

  /// Starts a scan.
  ///
  /// Sets everything again first, with the same `beacon`: a controller that restarted without notice then
  /// works again.
  mutating func startScan(sending beacon: Beacon?) async throws(BluetoothError) {
    try await setEventMasks()
    try await stopScan()
    try await send(beacon)
    try await send(.setScanParameters, after: [.setScan(enabled: false)])
    try await beginScanning()
  }

  /// Ends a scan, if there is one, and returns its beacons.
  @discardableResult
  mutating func stopScan() async throws(BluetoothError) -> CollectedBeacons {
    if isScanning { try await endScanning() }
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

  private mutating func beginScanning() async throws(BluetoothError) {
    try await send(.setScan(enabled: true), after: [.setScan(enabled: false)])
    isScanning = true
  }

  private mutating func endScanning() async throws(BluetoothError) {
    try await turnOff(.setScan(enabled: false))
    isScanning = false
  }

  /// Sends a command that turns something off.
  private func turnOff(_ command: HCICommand) async throws(BluetoothError) {
    do throws(BluetoothError) {
      _ = try await host.send(command)
    } catch let error where error.isInvalidState {
      // It is off: the controller never turned it on, or it restarted without notice.
    }
  }

  /// Sends a command that the controller rejects in a state that it should not be in. It then leaves this
  /// state by the commands `off`, and gets the command once more.
  private func send(
    _ command: HCICommand, after off: [HCICommand]
  ) async throws(BluetoothError) {
    do throws(BluetoothError) {
      _ = try await host.send(command)
    } catch let error where error.isInvalidState {
      for command in off { try await turnOff(command) }
      _ = try await host.send(command)
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
    } catch let error where error.code == .rejected {
      return nil
    }
  }
}

extension BluetoothError {
  /// True if the controller rejected a command because of the state that it is in.
  fileprivate var isInvalidState: Bool {
    code == .rejected && status == HCICommand.disallowedStatus
  }
}

/// An advertisement with the address that it is sent from. Both are replaced together.
struct Beacon: Equatable, Sendable {
  let advertisement: Advertisement
  let address: PrivateAddress
}

/// A random address that cannot be linked to a device, for one identifier.
///
/// Core Specification, Volume 6, Part B, 1.3.2.2 "Non-resolvable private address": the two most
/// significant bits are 0, the others are random, and neither all 0 nor all 1.
struct PrivateAddress: Hashable, Sendable {
  /// The size of an address, in bytes.
  static let byteCount = 6

  /// The bytes in the order of HCI: least significant byte first.
  let bytes: [UInt8]

  /// Draws a new address.
  init(_ randomness: some Randomness) {
    var bytes = Self.draw(randomness)
    // Both are excluded by the specification and have a probability of 1 in 2 to the power of 45.
    for _ in 0..<Self.drawsMax where !Self.isAllowed(bytes) { bytes = Self.draw(randomness) }
    self.bytes = bytes
  }

  private static let drawsMax = 8
  private static let randomBitsOfLastByte: UInt8 = 0b0011_1111

  private static func draw(_ randomness: some Randomness) -> [UInt8] {
    var bytes = randomness.bytes(byteCount)
    bytes[byteCount - 1] &= randomBitsOfLastByte
    return bytes
  }

  private static func isAllowed(_ bytes: [UInt8]) -> Bool {
    let areOnes = bytes.dropLast().allSatisfy { $0 == 0xff } && bytes.last == randomBitsOfLastByte
    return !areOnes && bytes.contains { $0 != 0 }
  }
}

extension PrivateAddress {
  /// The address as it is usually written, most significant byte first.
  var text: String {
    bytes.reversed().map { [$0].hexadecimal }.joined(separator: ":")
  }
}

extension PrivateAddress: Redacted {}

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
