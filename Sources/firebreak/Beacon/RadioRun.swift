import Bluetooth
import ExposureKeys
import Foundation
import Terminal

/// An event of a running `beacon` command.
enum RadioRunEvent: Sendable {
  /// The radio changed its state.
  case radio(HCIRadioEvent)
  /// A scan ended.
  case scan(Scan)
  /// Beacons of this key are sent from now on.
  case key(TemporaryExposureKey)
}

/// A radio that a command runs until SIGINT or SIGTERM.
struct RadioRun {
  let address: RadioAddress
  let schedule: ScanSchedule

  /// Runs `work` once the controller is ready, and passes events to `handle` in their order.
  ///
  /// A controller that fails later is set up again, with a note on stderr.
  ///
  /// - Throws: `CommandFailure` if the controller cannot be opened at the start; the error of `handle`.
  func run(
    work:
      @escaping @Sendable (
        HCIRadio, ControllerDescription, _ emit: @escaping @Sendable (RadioRunEvent) -> Void
      ) async throws -> Void,
    handle: (RadioRunEvent) throws -> Void
  ) async throws {
    let (events, continuation) = AsyncStream.makeStream(of: RadioRunEvent.self)
    let emit: @Sendable (RadioRunEvent) -> Void = { continuation.yield($0) }
    let radio = HCIRadio(address, schedule: schedule) { emit(.radio($0)) }
    let running = Task {
      await radio.run()
      continuation.finish()
    }
    let signals = SignalHandler { _ in running.cancel() }
    defer { withExtendedLifetime(signals) {} }
    var working: Task<Void, any Error>?
    defer { working?.cancel() }
    do {
      for await event in events {
        if case .radio(let event) = event {
          try report(event, isStarted: working != nil)
          if case .ready(let controller) = event, working == nil {
            working = Task { try await work(radio, controller, emit) }
          }
        }
        try handle(event)
      }
    } catch {
      running.cancel()
      await running.value
      throw error
    }
    await running.value
  }

  private func report(_ event: HCIRadioEvent, isStarted: Bool) throws {
    switch event {
    case .failed(let error, _) where !isStarted:
      throw CommandFailure(status: .machineFailed, message: "The radio \(address): \(error).")
    case .failed, .discarded, .scanDiscarded: note("the radio \(address): \(event)")
    case .ready, .advertising: break
    }
  }
}

/// The key of the beacons that are sent. As JSON it is an element of the keys that `keyfile make` reads.
struct SentKeyLine: Encodable, CustomStringConvertible {
  let key: String
  let rollingPeriod: UInt32
  let rollingStartNumber: UInt32

  init(_ key: TemporaryExposureKey) {
    self.key = Data(key.secretBytes).base64EncodedString()
    rollingPeriod = key.rollingPeriod
    rollingStartNumber = key.rollingStart.rawValue
  }

  var description: String { "key \(key) from interval \(rollingStartNumber)" }
}

/// A change of the sent beacon, as text and as JSON.
struct SentBeaconLine: Encodable, CustomStringConvertible {
  let address: String
  let aem: String
  let rpi: String
  let time: Int

  private enum CodingKeys: String, CodingKey {
    case address, aem, rpi
    case time = "unix_time"
  }

  init(_ advertisement: Advertisement, address: String, at date: Date) {
    self.address = address
    aem = advertisement.metadata.bytes.lowerCaseHex
    rpi = advertisement.identifier.bytes.lowerCaseHex
    time = Int(date.timeIntervalSince1970)
  }

  var description: String { "\(time) identifier \(rpi) metadata \(aem) address \(address)" }
}

/// A received beacon as JSON, with the names of the CSV's columns.
struct SightingLine: Encodable {
  let aem: String
  let rpi: String
  let rssi: Int8
  let time: Int

  private enum CodingKeys: String, CodingKey {
    case aem, rpi, rssi
    case time = "unix_time"
  }

  init(_ sighting: Sighting) {
    aem = sighting.advertisement.metadata.bytes.lowerCaseHex
    rpi = sighting.advertisement.identifier.bytes.lowerCaseHex
    rssi = sighting.signalStrength
    time = Int(sighting.time.timeIntervalSince1970)
  }
}
