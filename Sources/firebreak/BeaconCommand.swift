// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Bluetooth
import ExposureKeys
import ExposureNotification
import Foundation
import Terminal
import TextEncodings
import World

/// `firebreak beacon`: beacons alone, for makers of hardware.
struct BeaconCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "beacon",
    abstract: "Send or receive beacons through a Bluetooth controller.",
    subcommands: [BeaconAdvertiseCommand.self, BeaconListenCommand.self])
}

/// `firebreak beacon advertise`: sends the beacons of a fresh key.
struct BeaconAdvertiseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "advertise",
    abstract: "Send the beacons of a fresh key until Ctrl-C or SIGTERM.",
    discussion: """
      Identifier and address change together every ten to twenty minutes, as on a phone; both are printed at \
      each change. The key is printed as well, so that a receiver can be checked with `keyfile make` and \
      `match`. It is made for this run: do not use it for a person.
      """)

  @OptionGroup var options: RadioOptions

  @Option(help: "The transmit power in the metadata, in dBm; by default that of the controller.")
  var transmitPower: Int?

  func validate() throws {
    let powers = BluetoothMetadata.plausibleTransmitPower
    guard transmitPower.map({ Int8(exactly: $0).map(powers.contains) ?? false }) ?? true else {
      throw ValidationError("--transmit-power takes \(powers.lowerBound) to \(powers.upperBound).")
    }
  }

  func run() async throws {
    let (randomness, clock) = (SystemRandomness(), SystemClock())
    try await RadioRun(address: options.radio, schedule: .continuous).run {
      [power = transmitPower.map(Int8.init)] radio, controller, emit in
      let power = power ?? controller.transmitPower ?? 0
      var key: TemporaryExposureKey?
      while let interval = IntervalNumber(clock.now) {
        if key?.covers(interval) != true {
          key = TemporaryExposureKey(
            bytes: randomness.bytes(TemporaryExposureKey.byteCount),
            rollingStart: interval.startOfDay)
          if let key { emit(.key(key)) }
        }
        guard let key else { return }
        await radio.advertise(Self.advertisement(of: key, at: interval, power: power))
        let change = clock.now.addingTimeInterval(
          TimeInterval(randomness.number(in: BeaconLimit.rotationSeconds)))
        try await clock.sleep(until: min(change, key.rollingEnd.date))
      }
    } handle: { event in
      switch event {
      case .key(let key): try write(SentKeyLine(key))
      case .radio(.advertising(let advertisement, let address)):
        try write(SentBeaconLine(advertisement, address: address, at: clock.now))
      case .radio, .scan: break
      }
    }
  }

  private static func advertisement(
    of key: TemporaryExposureKey, at interval: IntervalNumber, power: Int8
  ) -> Advertisement {
    let schedule = KeySchedule(key)
    let identifier = schedule.identifier(at: interval)
    let metadata = BluetoothMetadata(transmitPower: power)
    return Advertisement(
      identifier: identifier, metadata: schedule.seal(metadata, beside: identifier))
  }

  private func write(_ line: some Encodable & CustomStringConvertible) throws {
    try options.json ? printJSON(line) : StandardOutput.write(line.description)
  }
}

/// `firebreak beacon listen`: prints received beacons.
struct BeaconListenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen",
    abstract: "Print received beacons until Ctrl-C or SIGTERM.",
    discussion: """
      Scans without pauses and prints every received beacon, in the CSV format that `match` reads: the header \
      \(SightingsCSV.header), then a row for each beacon. With --json each beacon is a JSON object in a line.
      """)

  @OptionGroup var options: RadioOptions

  func run() async throws {
    var hasHeader = options.json
    try await RadioRun(address: options.radio, schedule: .continuous).run { radio, _, emit in
      await radio.listen { scan in emit(.scan(scan)) }
    } handle: { event in
      if case .radio(.ready) = event, !hasHeader {
        hasHeader = true
        try StandardOutput.write(SightingsCSV.header)
      }
      guard case .scan(let scan) = event else { return }
      for sighting in scan.sightings {
        try options.json
          ? printJSON(SightingLine(sighting)) : StandardOutput.write(SightingsCSV.row(sighting))
      }
    }
  }
}

/// The options of both commands.
struct RadioOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The controller: hci:HOST:PORT, hci:/dev/ttyX[,SPEED] or hci:user:N.", valueName: "address"),
    transform: RadioOptions.address)
  var radio: RadioAddress

  @Flag(help: "Print JSON objects, one in a line.")
  var json = false

  /// Parses the value of `--radio`.
  static func address(_ text: String) throws -> RadioAddress {
    do throws(RadioAddressError) {
      return try RadioAddress(text)
    } catch {
      throw ValidationError(error.description)
    }
  }
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
      throw CommandFailure.machineFailed("The radio \(address): \(error).")
    case .failed, .discarded, .scanDiscarded: note("the radio \(address): \(event)")
    case .ready, .advertising: break
    }
  }
}

/// An event of a running `beacon` command.
enum RadioRunEvent: Sendable {
  /// The radio changed its state.
  case radio(HCIRadioEvent)
  /// A scan ended.
  case scan(Scan)
  /// Beacons of this key are sent from now on.
  case key(TemporaryExposureKey)
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
    aem = advertisement.metadata.bytes.hexadecimal
    rpi = advertisement.identifier.bytes.hexadecimal
    time = Int(date.unixSecond)
  }

  var description: String {
    "\(UTCTime(unixSecond: Int64(time)).text) identifier \(rpi) metadata \(aem) address \(address)"
  }
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
    aem = sighting.advertisement.metadata.bytes.hexadecimal
    rpi = sighting.advertisement.identifier.bytes.hexadecimal
    rssi = sighting.signalStrength
    time = Int(sighting.time.unixSecond)
  }
}
