// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import World

/// The host of one open controller: sends commands and collects received beacons.
///
/// One task runs `run()`. Another sends commands, one at a time. After the first failure every command
/// fails with it, and the stream has to be opened again.
actor HCIHost {
  /// A command that waits for its result, or for a credit to be sent.
  private struct Pending {
    let id: Int
    let command: HCICommand
    let continuation: CheckedContinuation<Result<[UInt8], BluetoothError>, Never>
    var isSent = false
  }

  private let stream: any ByteStream
  /// The time of sightings.
  private let clock: any WallClock
  /// The time for commands.
  private let machine: any WallClock
  private var parser = PacketParser()
  private var pending: Pending?
  private var lastID = 0
  /// The number of commands that the controller accepts now.
  private var credits: UInt8 = 1
  /// The first failure, after which no command is sent.
  private(set) var failure: BluetoothError?
  private var received = CollectedBeacons()

  init(stream: any ByteStream, clock: any WallClock, machine: any WallClock) {
    self.stream = stream
    self.clock = clock
    self.machine = machine
  }

  /// Reads the stream until it ends or the controller fails, and returns the failure.
  func run() async -> BluetoothError {
    for await bytes in stream.received {
      let now = clock.now
      for event in parser.events(in: bytes) {
        if let failure = handle(event, at: now) { return fail(failure) }
      }
      if parser.skippedByteCount > BluetoothLimit.skippedBytesMax { return fail(.notHCI) }
    }
    return fail(.disconnected)
  }

  /// Sends `command` and returns its return parameters after the status.
  func send(_ command: HCICommand) async throws(BluetoothError) -> [UInt8] {
    lastID += 1
    let id = lastID
    let timer = Task {
      try await machine.sleep(for: BluetoothLimit.commandSeconds)
      finish(id, .failure(.noAnswer(command.name)))
    }
    defer { timer.cancel() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { start(Pending(id: id, command: command, continuation: $0)) }
    } onCancel: {
      Task { await finish(id, .failure(.stopped)) }
    }
    return try result.get()
  }

  /// Returns and removes the beacons that were received since the last call.
  func takeBeacons() -> CollectedBeacons {
    defer { received = CollectedBeacons() }
    return received
  }
}

extension HCIHost {
  private func start(_ command: Pending) {
    if let failure = failure ?? (Task.isCancelled ? .stopped : nil) {
      return command.continuation.resume(returning: .failure(failure))
    }
    pending = command
    // A reset is allowed at any time and restores the credit.
    if command.command == .reset { credits = 1 }
    sendPending()
  }

  private func sendPending() {
    guard let command = pending, !command.isSent, credits > 0 else { return }
    credits -= 1
    pending?.isSent = true
    do throws(BluetoothError) {
      try stream.send(command.command.packet)
    } catch {
      fail(error)
    }
  }

  private func finish(_ id: Int, _ result: Result<[UInt8], BluetoothError>) {
    guard let command = pending, command.id == id else { return }
    pending = nil
    command.continuation.resume(returning: result)
  }

  /// Keeps the first failure and returns it.
  @discardableResult
  private func fail(_ error: BluetoothError) -> BluetoothError {
    let first = failure ?? error
    failure = first
    if let pending { finish(pending.id, .failure(first)) }
    return first
  }

  /// Returns the failure that the event stands for, if any.
  private func handle(_ event: HCIEvent, at now: Date) -> BluetoothError? {
    switch event {
    case .commandComplete(let credits, let opcode, let result):
      self.credits = credits
      if let failure = complete(opcode, status: result.first ?? 0, Array(result.dropFirst())) {
        return failure
      }
      sendPending()
    case .commandStatus(let status, let credits, let opcode):
      self.credits = credits
      // Status 0 means that the result follows.
      if status != 0 { _ = complete(opcode, status: status, []) }
      sendPending()
    case .hardwareError(let code): return .hardwareError(code)
    case .advertisingReports(let content):
      received.add(AdvertisingReports(content: content), at: now)
    case .other: break
    }
    return nil
  }

  /// A reset that was not requested is that of a controller that restarted. Other results without a
  /// command belong to one that timed out.
  private func complete(_ opcode: UInt16, status: UInt8, _ result: [UInt8]) -> BluetoothError? {
    guard let pending, pending.isSent, pending.command.opcode == opcode else {
      return opcode == HCICommand.reset.opcode ? .restarted : nil
    }
    let isSuccess = status == 0
    finish(
      pending.id,
      isSuccess ? .success(result) : .failure(.rejected(pending.command.name, status: status)))
    return nil
  }
}

/// The beacons that a controller received, without the addresses of their senders.
struct CollectedBeacons: Sendable {
  private(set) var sightings: [Sighting] = []
  /// Reports that were cut off or had impossible values.
  private(set) var malformedCount = 0
  /// Beacons above `BluetoothLimit.beaconsPerScan`.
  private(set) var excessCount = 0

  /// Adds the exposure notification beacons among `reports`.
  mutating func add(_ reports: AdvertisingReports, at time: Date) {
    malformedCount += reports.malformedCount
    for report in reports.reports {
      guard let advertisement = Advertisement(payload: report.payload) else { continue }
      guard sightings.count < BluetoothLimit.beaconsPerScan else {
        excessCount += 1
        continue
      }
      sightings.append(
        Sighting(advertisement: advertisement, time: time, signalStrength: report.signalStrength))
    }
  }
}
