// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Synchronization
import World

/// A radio that sends to one recording and receives from another.
final class RecordingRadio: Radio {
  /// The transmit power of every phone, in dBm.
  static let transmitPower: Int8 = 8
  /// The received signal strength of a phone nearby, in dBm.
  static let signalStrength: Int8 = -50
  /// The scan interval, in seconds.
  static let scanSeconds: TimeInterval = 240

  let isPoweredOn: Bool
  private let clock: any WallClock
  private let sends: BeaconRecording?
  private let hears: BeaconRecording?
  private let receiver = Mutex<ScanReceiver?>(nil)

  init(
    clock: any WallClock, isPoweredOn: Bool = true, sends: BeaconRecording? = nil,
    hears: BeaconRecording? = nil
  ) {
    self.clock = clock
    self.isPoweredOn = isPoweredOn
    self.sends = sends
    self.hears = hears
  }

  /// Scans periodically until the task is cancelled.
  func scan() async throws {
    while true {
      if let receive = receiver.withLock({ $0 }) {
        let now = clock.now
        let beacons = [try hears?.advertisement(at: now)].compactMap(\.self)
        await receive(
          Scan(
            time: now,
            sightings: beacons.map {
              Sighting(advertisement: $0, time: now, signalStrength: Self.signalStrength)
            }))
      }
      try await clock.sleep(until: clock.now.addingTimeInterval(Self.scanSeconds))
    }
  }

  func advertise(_ advertisement: Advertisement) async { record(advertisement) }

  func stopAdvertising() async { record(nil) }

  func listen(_ receive: @escaping ScanReceiver) async {
    receiver.withLock { $0 = receive }
  }

  func stopListening() async {
    receiver.withLock { $0 = nil }
  }

  private func record(_ advertisement: Advertisement?) {
    do {
      try sends?.record(advertisement, at: clock.now)
    } catch {
      Terminal.warn("writing the recording failed: \(error)")
    }
  }
}

/// The beacons that one phone has sent, for another to receive.
///
/// It replaces the radio channel, because each phone is a separate process.
struct BeaconRecording {
  /// A beacon sent since `time`; a nil payload means silence.
  struct Entry: Codable {
    let time: Date
    let payload: Data?
  }

  let file: URL

  /// Adds a beacon that starts at `time`.
  func record(_ advertisement: Advertisement?, at time: Date) throws {
    let entries =
      try entries() + [Entry(time: time, payload: advertisement.map { Data($0.payload) })]
    try JSONEncoder().encode(entries).write(to: file, options: .atomic)
  }

  /// The beacon at `time`.
  func advertisement(at time: Date) throws -> Advertisement? {
    try entries().last { $0.time <= time }?.payload.flatMap { Advertisement(payload: $0) }
  }

  private func entries() throws -> [Entry] {
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    return try JSONDecoder().decode([Entry].self, from: Data(contentsOf: file))
  }
}
