// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

@testable import Bluetooth

/// A controller in memory that answers every command with success, and fails as a test tells it to.
///
/// It rejects what the specification disallows, and notes data and parameters of an advertisement that
/// change while it is being sent.
final class FakeController: ControllerPort {
  /// A beacon that the controller sent: address and payload.
  struct SentBeacon: Equatable {
    let address: [UInt8]
    let payload: [UInt8]
  }

  struct State {
    /// The number of attempts to open the controller.
    var openCount = 0
    var isReachable = true
    /// The largest number of bytes that arrive together.
    var chunkByteCount = Int.max
    /// Opcodes without a result.
    var silent: Set<UInt16> = []
    /// Results other than success: status and return parameters by opcode.
    var results: [UInt16: [UInt8]] = [:]
    /// True if a command that changes nothing is rejected, such as "scan off" without a scan. The
    /// specification leaves that to the controller; Zephyr's rejects.
    var isStrict = false
    /// Rejections with a Command Status event, by opcode.
    var rejections: [UInt16: UInt8] = [:]
    /// The credits that each result gives.
    var credits: UInt8 = 1
    /// The number of commands that the host may send now.
    fileprivate var granted: UInt8 = 1
    /// The commands since the controller was opened last.
    var commands: [HCICommandBytes] = []
    var isAdvertising = false
    var isScanning = false
    var address: [UInt8] = []
    var payload: [UInt8] = []
    /// Every beacon that was enabled, in order.
    var sent: [SentBeacon] = []
    /// Changes of a beacon while it was being sent.
    var violations: [String] = []
    fileprivate var arrivals: AsyncStream<[UInt8]>.Continuation?

    fileprivate func deliver(_ bytes: [UInt8]) {
      var rest = bytes[...]
      while !rest.isEmpty {
        arrivals?.yield(Array(rest.prefix(chunkByteCount)))
        rest = rest.dropFirst(chunkByteCount)
      }
    }
  }

  struct HCICommandBytes: Equatable {
    let opcode: UInt16
    let parameters: [UInt8]
  }

  private let mutex = Mutex(State())

  var state: State { mutex.withLock { $0 } }

  var opcodes: [UInt16] { state.commands.map(\.opcode) }

  func change(_ body: (inout State) -> Void) {
    mutex.withLock { body(&$0) }
  }

  func open() async throws(BluetoothError) -> any ByteStream {
    let (received, arrivals) = AsyncStream.makeStream(of: [UInt8].self)
    let isReachable = mutex.withLock { state in
      state.openCount += 1
      guard state.isReachable else { return false }
      state.arrivals = arrivals
      state.commands = []
      state.granted = 1
      return true
    }
    guard isReachable else { throw .unavailable("the fake controller is switched off") }
    return Connection(controller: self, received: received)
  }

  /// Lets the host receive bytes.
  func deliver(_ bytes: [UInt8]) {
    mutex.withLock { $0.deliver(bytes) }
  }

  /// Allows the host to send more commands.
  func grant(credits: UInt8) {
    mutex.withLock { state in
      state.granted = credits
      state.deliver(Event.commandComplete(0, [], credits: credits))
    }
  }

  /// Ends the connection.
  func disconnect() {
    mutex.withLock { $0.arrivals?.finish() }
  }

  /// Ends the connection, with all state lost, as a board that is unplugged.
  func losePower() {
    forgetState()
    disconnect()
  }

  /// Loses all state without an event.
  func forgetState() {
    mutex.withLock {
      $0.isAdvertising = false
      $0.isScanning = false
      $0.address = []
      $0.payload = []
    }
  }
}

extension FakeController {
  private struct Connection: ByteStream {
    let controller: FakeController
    let received: AsyncStream<[UInt8]>

    func send(_ packet: [UInt8]) throws(BluetoothError) { controller.handle(packet) }
    func close() { controller.disconnect() }
  }

  private func handle(_ packet: [UInt8]) {
    let opcode = UInt16(packet[1]) | UInt16(packet[2]) << 8
    let parameters = Array(packet.dropFirst(4))
    mutex.withLock { state in
      // The response is delivered before a test can see the command: credits that the test then grants must arrive
      // after those of the response.
      if let response = Self.response(to: opcode, parameters, &state) { state.deliver(response) }
    }
  }

  /// Carries out a command and returns its response, or nil if the controller is silent.
  private static func response(
    to opcode: UInt16, _ parameters: [UInt8], _ state: inout State
  ) -> [UInt8]? {
    state.commands.append(HCICommandBytes(opcode: opcode, parameters: parameters))
    if opcode != 0x0c03, state.granted == 0 { state.violations.append("sent without a credit") }
    state.granted = state.credits
    if state.silent.contains(opcode) { return nil }
    if let status = state.rejections[opcode] {
      return Event.commandStatus(opcode, status: status, credits: state.credits)
    }
    // Core Specification, Volume 4, Part E, 7.8.4 and 7.8.10.
    let isBusy = opcode == 0x2005 && (state.isAdvertising || state.isScanning)
    let isUnchanged =
      opcode == 0x200a && state.isAdvertising == (parameters.first == 1)
      || opcode == 0x200c && state.isScanning == (parameters.first == 1)
    let isDisallowed =
      isBusy || opcode == 0x200b && state.isScanning || state.isStrict && isUnchanged
      || state.isStrict && opcode == 0x2006 && state.isAdvertising
    let result = isDisallowed ? [0x0c] : state.results[opcode] ?? Self.result(opcode)
    if result.first == 0 { Self.execute(opcode, parameters, &state) }
    return Event.commandComplete(opcode, result, credits: state.credits)
  }

  private static func result(_ opcode: UInt16) -> [UInt8] {
    switch opcode {
    case 0x1001: [0, 9, 0, 0, 9, 0x5f, 0, 0, 0]
    case 0x1003: [0, 0, 0, 0, 0, 0b0100_0000, 0, 0, 0]
    case 0x2007: [0, UInt8(bitPattern: -7)]
    default: [0]
    }
  }

  private static func execute(_ opcode: UInt16, _ parameters: [UInt8], _ state: inout State) {
    switch opcode {
    case 0x0c03:
      state.isAdvertising = false
      state.isScanning = false
    case 0x2005: state.address = parameters
    case 0x2006 where state.isAdvertising:
      state.violations.append("parameters changed while advertising")
    case 0x2008:
      if state.isAdvertising { state.violations.append("data changed while advertising") }
      state.payload = Array(parameters.dropFirst().prefix(Int(parameters[0])))
    case 0x200a:
      state.isAdvertising = parameters == [1]
      guard state.isAdvertising else { return }
      if state.address.isEmpty { state.violations.append("advertised without an address") }
      state.sent.append(SentBeacon(address: state.address, payload: state.payload))
    case 0x200c: state.isScanning = parameters.first == 1
    default: break
    }
  }
}

/// The bytes of events, in H4 framing.
enum Event {
  static func commandComplete(
    _ opcode: UInt16, _ result: [UInt8] = [0], credits: UInt8 = 1
  ) -> [UInt8] {
    event(0x0e, [credits, UInt8(opcode & 0xff), UInt8(opcode >> 8)] + result)
  }

  static func commandStatus(_ opcode: UInt16, status: UInt8, credits: UInt8 = 1) -> [UInt8] {
    event(0x0f, [status, credits, UInt8(opcode & 0xff), UInt8(opcode >> 8)])
  }

  static func hardwareError(_ code: UInt8) -> [UInt8] { event(0x10, [code]) }

  static func event(_ code: UInt8, _ content: [UInt8]) -> [UInt8] {
    [4, code, UInt8(content.count)] + content
  }

  /// An LE Advertising Report event with these reports.
  static func reports(_ reports: [[UInt8]]) -> [UInt8] {
    event(0x3e, [2, UInt8(reports.count)] + reports.joined())
  }

  /// A report: non-connectable, from a random address.
  static func report(
    _ payload: [UInt8], type: UInt8 = 3, address: [UInt8] = [1, 2, 3, 4, 5, 6],
    strength: Int8 = -60
  ) -> [UInt8] {
    [type, 1] + address + [UInt8(payload.count)] + payload + [UInt8(bitPattern: strength)]
  }
}
