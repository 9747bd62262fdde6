import ExposureKeys
import Foundation
import Synchronization
import World

/// A radio without air: it remembers what was sent, and hears what a test says.
final class TestRadio: Radio {
  typealias Receiver = @Sendable ([Sighting]) async -> Void

  struct Sent: Sendable {
    let advertisement: Advertisement
    let time: Date
  }

  private struct State {
    var isPoweredOn = true
    var sent: [Sent] = []
    var isAdvertising = false
    var receiver: Receiver?
  }

  private let clock: any WallClock
  private let state = Mutex(State())

  init(clock: any WallClock) {
    self.clock = clock
  }

  var isPoweredOn: Bool { state.withLock { $0.isPoweredOn } }
  var sent: [Sent] { state.withLock { $0.sent } }
  var isAdvertising: Bool { state.withLock { $0.isAdvertising } }
  var isListening: Bool { receiver != nil }

  private var receiver: Receiver? { state.withLock { $0.receiver } }

  func setPoweredOn(_ isPoweredOn: Bool) {
    state.withLock { $0.isPoweredOn = isPoweredOn }
  }

  /// One scan.
  func hear(_ sightings: [Sighting]) async {
    await receiver?(sightings)
  }

  func advertise(_ advertisement: Advertisement) async {
    let sent = Sent(advertisement: advertisement, time: clock.now)
    state.withLock {
      $0.sent.append(sent)
      $0.isAdvertising = true
    }
  }

  func stopAdvertising() async {
    state.withLock { $0.isAdvertising = false }
  }

  func listen(_ receive: @escaping Receiver) async {
    state.withLock { $0.receiver = receive }
  }

  func stopListening() async {
    state.withLock { $0.receiver = nil }
  }
}
