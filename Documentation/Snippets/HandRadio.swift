import ExposureKeys
import Synchronization

/// A radio that hears what a snippet says.
final class HandRadio: Radio {
  typealias Receiver = @Sendable ([Sighting]) async -> Void

  private let state = Mutex<(isPoweredOn: Bool, receiver: Receiver?)>((true, nil))

  var isPoweredOn: Bool { state.withLock { $0.isPoweredOn } }

  func switchOff() { state.withLock { $0.isPoweredOn = false } }

  func hear(_ sighting: Sighting) async {
    let receiver = state.withLock { $0.receiver }
    await receiver?([sighting])
  }

  func advertise(_ advertisement: Advertisement) async {}
  func stopAdvertising() async {}
  func listen(_ receive: @escaping Receiver) async { state.withLock { $0.receiver = receive } }
  func stopListening() async { state.withLock { $0.receiver = nil } }
}
