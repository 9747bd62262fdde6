// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Synchronization
import World

/// A region with simulated devices, for tests, previews and CI: their clock, the radio channel between them and
/// their health authority.
///
/// `Device.simulated(in:)` creates its devices. They are real devices below `ENManager`; only radio, clock and
/// consent are simulated. Time passes in `pass(days:minutes:)` and `meet(_:_:minutes:attenuation:)`. A device is
/// out of reach of all others unless it meets one, and it scans only then.
///
/// The files are in a temporary folder. It is removed with the last user of the region and its devices, at the
/// latest when the process exits.
public final class SimulatedRegion: Sendable {
  /// A device that is not kept alive: it keeps the region.
  private struct Member {
    weak var device: Device?
  }

  private struct State {
    var members: [Member] = []
    var deviceCount = 0
    var fileCount = 0
  }

  /// The clock of all devices. To let time pass, call a method of the region: a device has work to do meanwhile.
  /// Moving the clock itself is a jump, as if the user had set it.
  public let clock: SimulatedClock
  /// The region with the public key of its authority, which all devices trust.
  public let configuration: RegionConfiguration
  private let signer: KeyFileSigner
  private let folder: RegionFolder
  private let state = Mutex(State())

  /// Noon of 1 June 2026, UTC.
  public static let noon = Date(timeIntervalSince1970: 1_780_315_200)

  /// Creates a region without devices, whose clock shows `start`. Its authority has a new key.
  ///
  /// - Throws: If the temporary folder cannot be created.
  public init(startingAt start: Date = noon) throws {
    let key = P256.Signing.PrivateKey()
    signer = try KeyFileSigner(
      privateKeyPEM: key.pemRepresentation, keyID: "260", keyVersion: "v1")
    configuration = RegionConfiguration(
      region: "PL",
      keys: [
        try VerificationPublicKey(
          keyID: "260", keyVersion: "v1", publicKeyPEM: key.publicKey.pemRepresentation)
      ])
    clock = SimulatedClock(now: start)
    folder = try RegionFolder()
  }

  /// Lets time pass. The devices change their keys and identifiers when it is time to.
  public func pass(days: Double = 0, minutes: Double = 0) async {
    await pass(seconds: days * Day.seconds + minutes * 60)
  }

  /// Lets two devices be near each other for some minutes, and lets that time pass.
  ///
  /// Each device that is turned on receives the other's beacon every four minutes, if that is turned on.
  ///
  /// - Parameters:
  ///   - one: The first device.
  ///   - other: The second device.
  ///   - minutes: The time for which they are near each other.
  ///   - attenuation: The loss between the two phones in dB; less is nearer.
  /// - Throws: `ENError.badParameter` if a device is not of this region.
  public func meet(
    _ one: Device, _ other: Device, minutes: Double, attenuation: Int = 50
  ) async throws {
    let (first, second) = (try radio(of: one), try radio(of: other))
    let end = clock.now.addingTimeInterval(minutes * 60)
    while true {
      // Both beacons are of this moment before either is received.
      await pass(seconds: 0)
      await first.scan(at: clock.now, receiving: second.beacon, attenuation: attenuation)
      await second.scan(at: clock.now, receiving: first.beacon, attenuation: attenuation)
      let seconds = end.timeIntervalSince(clock.now)
      guard seconds > 0 else { return }
      await pass(seconds: min(seconds, Self.scanSeconds))
    }
  }

  /// Switches the Bluetooth of a device on or off.
  ///
  /// - Throws: `ENError.badParameter` if the device is not of this region.
  public func setBluetooth(on isOn: Bool, of device: Device) async throws {
    try radio(of: device).setPower(on: isOn)
    await device.beat()
  }

  private static let scanSeconds: TimeInterval = 240
}

extension SimulatedRegion {
  /// The key files that the authority publishes after the diagnosis of a user. The app passes them to
  /// `ENManager.detectExposures`.
  ///
  /// They contain the keys that the device would hand out for an upload now. As in an upload, the user is asked,
  /// and API version 1 leaves out the key of today: let a day pass.
  ///
  /// - Parameters:
  ///   - device: The device of the diagnosed user.
  ///   - reportType: The kind of diagnosis.
  ///   - transmissionRiskLevel: The risk level that the authority assigns to the keys, 0 to 8.
  ///   - onset: The day of the first symptoms, at any time of day; nil if it is not stated.
  ///   - variant: The variant of the virus.
  /// - Throws: `ENError` as from `ENManager.getDiagnosisKeys`; `.badParameter` if the device is not of this region
  ///   or the risk level is out of range. `KeyFileError` if the file cannot be written.
  public func keyFiles(
    ofDiagnosed device: Device, reportType: ENDiagnosisReportType = .confirmedTest,
    transmissionRiskLevel: ENRiskLevel = 4, onset: Date? = nil,
    variant: ENVariantOfConcernType = .typeUnknown
  ) async throws -> [URL] {
    _ = try radio(of: device)
    let keys = try await device.releaseKeys().map { key in
      let diagnosis = DiagnosisKey(
        key: key, transmissionRiskLevel: transmissionRiskLevel,
        reportType: ReportType(rawValue: Int32(reportType.rawValue)),
        daysSinceOnsetOfSymptoms: onset.map { Self.days(from: $0, to: key.rollingStart.date) },
        variantOfConcern: VariantOfConcern(rawValue: UInt8(variant.rawValue)))
      guard let diagnosis else { throw ENError(.badParameter, explanation: Self.unusableLevel) }
      return diagnosis
    }
    let number = state.withLock { state in
      state.fileCount += 1
      return state.fileCount
    }
    let file = folder.url.appendingPathComponent("\(number).zip")
    let end = UInt64(max(0, clock.now.timeIntervalSince1970))
    try KeyFileWriter.write(
      to: file, start: end - min(end, UInt64(Day.seconds)), end: end, region: configuration.region,
      keys: keys.sorted(by: DiagnosisKey.inFileOrder), signers: [signer])
    return [file]
  }

  private static func days(from onset: Date, to day: Date) -> Int32 {
    Int32(clamping: Int(Day(of: day).number) - Int(Day(of: onset).number))
  }

  private static let unusableLevel =
    "The transmission risk level is above 8; choose one of 0 to 8."
}

extension SimulatedRegion {
  /// Adds a device.
  func add(_ device: Device) {
    state.withLock { $0.members.append(Member(device: device)) }
  }

  /// The path of a new device's folder.
  func newFolder() -> URL {
    let number = state.withLock { state in
      state.deviceCount += 1
      return state.deviceCount
    }
    return folder.url.appendingPathComponent("device \(number)")
  }

  private func pass(seconds: TimeInterval) async {
    let end = clock.now.addingTimeInterval(seconds)
    while true {
      var next = end
      for device in devices() { next = min(next, await device.beat()) }
      let now = clock.now
      guard now < end else { return }
      // A beat that is due at once waits a second, so that time advances.
      clock.advance(to: min(end, max(next, now.addingTimeInterval(1))))
    }
  }

  private func devices() -> [Device] {
    state.withLock { state in
      state.members.removeAll { $0.device == nil }
      return state.members.compactMap(\.device)
    }
  }

  private func radio(of device: Device) throws(ENError) -> SimulatedBluetooth {
    guard let radio = device.radio as? SimulatedBluetooth, radio.region === self else {
      throw ENError(.badParameter, explanation: Self.foreignDevice)
    }
    return radio
  }

  private static let foreignDevice =
    "The device is not of this simulated region; create it with Device.simulated(in:) of the region."
}

/// A temporary folder that is removed with this object, at the latest when the process exits.
private final class RegionFolder: Sendable {
  private static let existing = Mutex<Set<URL>>([])
  private static let isRemovedAtExit: Bool = atexit { RegionFolder.removeAll() } == 0

  let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("firebreak-region-\(UUID().uuidString)")

  init() throws {
    _ = Self.isRemovedAtExit
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    Self.existing.withLock { _ = $0.insert(url) }
  }

  deinit {
    Self.existing.withLock { _ = $0.remove(url) }
    Self.remove(url)
  }

  private static func removeAll() {
    existing.withLock { $0 }.forEach(remove)
  }

  private static func remove(_ url: URL) {
    // A failure leaves a folder in the temporary folder, which the system empties.
    try? FileManager.default.removeItem(at: url)
  }
}
