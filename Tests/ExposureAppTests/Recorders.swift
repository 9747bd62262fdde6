import Foundation
import Synchronization

@testable import ExposureApp

/// Remembers the wishes to be woken.
final class RecordingScheduler: BackgroundScheduler {
  private let list = Mutex<[BackgroundRequest]>([])

  var requests: [BackgroundRequest] { list.withLock { $0 } }

  func schedule(_ request: BackgroundRequest) { list.withLock { $0.append(request) } }
}

/// Remembers the notices.
final class RecordingNotices: NoticeSink {
  private let list = Mutex<(shown: [Notice], removed: [Notice.Identifier])>(([], []))

  var shown: [Notice] { list.withLock { $0.shown } }
  var removed: [Notice.Identifier] { list.withLock { $0.removed } }
  var risks: [RiskLevel] { shown.compactMap(\.riskLevel) }

  func show(_ notice: Notice) async { list.withLock { $0.shown.append(notice) } }
  func remove(_ identifier: Notice.Identifier) async {
    list.withLock { $0.removed.append(identifier) }
  }
}

/// One background run; the test says when its time is up.
final class HandRun: BackgroundRun {
  private let state = Mutex<(handler: (@Sendable () -> Void)?, completions: [Bool])>((nil, []))

  var completions: [Bool] { state.withLock { $0.completions } }
  var isWaiting: Bool { state.withLock { $0.handler != nil } }

  func whenTimeIsUp(_ handler: @escaping @Sendable () -> Void) {
    state.withLock { $0.handler = handler }
  }

  func complete(success: Bool) { state.withLock { $0.completions.append(success) } }

  func timeIsUp() { state.withLock { $0.handler }?() }
}

/// A device whose word is a number that counts up, or that has none to give.
final class CountingDevice: DeviceAttestation {
  struct NoWord: Error {}

  private let state = Mutex<(count: UInt8, isSilent: Bool)>((0, false))

  func fallSilent() { state.withLock { $0.isSilent = true } }

  func token() async throws -> Data {
    try state.withLock {
      if $0.isSilent { throw NoWord() }
      $0.count += 1
      return Data([$0.count])
    }
  }
}
