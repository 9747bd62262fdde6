import ExposureKeys
import Foundation
import Synchronization
import World

/// A phone's radio: sends onto one tape and hears from another.
final class TapeRadio: Radio {
  typealias Receiver = nonisolated(nonsending) @Sendable ([Sighting]) async -> Void

  /// How strongly a phone on the next seat is heard, in dBm.
  static let signalStrength: Int8 = -50
  /// How often the radio looks around, in seconds.
  static let scanSeconds: TimeInterval = 240

  let isPoweredOn: Bool
  private let clock: any WallClock
  private let sends: Tape?
  private let hears: Tape?
  private let receiver = Mutex<Receiver?>(nil)

  init(clock: any WallClock, isPoweredOn: Bool = true, sends: Tape? = nil, hears: Tape? = nil) {
    self.clock = clock
    self.isPoweredOn = isPoweredOn
    self.sends = sends
    self.hears = hears
  }

  /// Looks around every few minutes until the task is cancelled.
  func scan() async throws {
    while true {
      if let receive = receiver.withLock({ $0 }),
        let beacon = try hears?.advertisement(at: clock.now)
      {
        await receive([
          Sighting(
            advertisement: beacon, time: clock.now, signalStrength: Self.signalStrength)
        ])
      }
      try await clock.sleep(until: clock.now.addingTimeInterval(Self.scanSeconds))
    }
  }

  func advertise(_ advertisement: Advertisement) async { record(advertisement) }

  func stopAdvertising() async { record(nil) }

  func listen(_ receive: @escaping Receiver) async {
    receiver.withLock { $0 = receive }
  }

  func stopListening() async {
    receiver.withLock { $0 = nil }
  }

  private func record(_ advertisement: Advertisement?) {
    do {
      try sends?.record(advertisement, at: clock.now)
    } catch {
      Terminal.warn("the tape cannot be written: \(error)")
    }
  }
}
