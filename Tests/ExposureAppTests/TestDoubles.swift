// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Synchronization

@testable import ExposureApp

/// Scripted responses for each path; a path without a script returns 404. The last reply of a script
/// is repeated.
final class ScriptedNetwork: Network {
  enum Reply: Sendable {
    case response(Int, Data = Data(), retryAfter: Int? = nil, tag: String? = nil)
    case fails(NetworkFailure)
    /// Does not respond; ends when the task is cancelled.
    case hangs
    /// Responds after some work.
    indirect case after(@Sendable () async -> Void, Reply)

    static func text(_ text: String) -> Reply { .response(200, Data(text.utf8)) }
  }

  private struct State {
    var scripts: [String: [Reply]] = [:]
    var requests: [NetworkRequest] = []
    var running = 0
    var date: (@Sendable () -> Date)?
    var hostDates: [String: @Sendable () -> Date?] = [:]
    var ageSeconds: TimeInterval = 0
    var runningMax = 0
  }

  let connection: NetworkConnection
  private let state = Mutex(State())

  init(connection: NetworkConnection = .wifi) { self.connection = connection }

  var requests: [NetworkRequest] { state.withLock { $0.requests } }
  /// The largest number of concurrent downloads.
  var runningMax: Int { state.withLock { $0.runningMax } }

  func requests(for path: String) -> [NetworkRequest] { requests.filter { $0.url.path == path } }

  func script(_ path: String, _ replies: Reply...) {
    state.withLock { $0.scripts[path] = replies }
  }

  /// Makes all responses state the server's time.
  func states(_ date: @escaping @Sendable () -> Date) { state.withLock { $0.date = date } }

  /// Makes all responses of one host state another time, or none.
  func states(at host: String, _ date: @escaping @Sendable () -> Date?) {
    state.withLock { $0.hostDates[host] = date }
  }

  private func date(of host: String?) -> Date? {
    let (all, hosts) = state.withLock { ($0.date, $0.hostDates) }
    return if let date = hosts[host ?? ""] { date() } else { all?() }
  }

  /// Makes all responses state an age, as a cache does.
  func statesAge(_ seconds: TimeInterval) { state.withLock { $0.ageSeconds = seconds } }

  func index(_ names: [String]) {
    script("/index.txt", .text(names.joined(separator: "\n")))
  }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try await respond(reply(to: request), to: request)
  }

  private func respond(_ reply: Reply, to request: NetworkRequest) async throws -> NetworkResponse {
    switch reply {
    case .response(let status, let body, let retryAfter, let tag):
      return NetworkResponse(
        status: status, body: body, retryAfterSeconds: retryAfter,
        version: ResponseVersion(entityTag: tag, lastModified: nil),
        date: date(of: request.url.host), ageSeconds: state.withLock(\.ageSeconds))
    case .fails(let failure): throw failure
    case .hangs:
      try await Task.sleep(for: .seconds(3_600))
      throw NetworkFailure.timedOut
    case .after(let work, let next):
      await work()
      return try await respond(next, to: request)
    }
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    state.withLock {
      $0.running += 1
      $0.runningMax = max($0.runningMax, $0.running)
    }
    defer { state.withLock { $0.running -= 1 } }
    for _ in 0..<20 { await Task.yield() }
    let response = try await send(request)
    if response.status == 200 {
      do {
        try response.body.write(to: file)
      } catch {
        throw NetworkFailure.diskFull
      }
    }
    return NetworkResponse(
      status: response.status, retryAfterSeconds: response.retryAfterSeconds)
  }

  private func reply(to request: NetworkRequest) -> Reply {
    state.withLock { state in
      state.requests.append(request)
      guard var script = state.scripts[request.url.path], let first = script.first else {
        return .response(404)
      }
      if script.count > 1 {
        script.removeFirst()
        state.scripts[request.url.path] = script
      }
      return first
    }
  }
}

/// Records background requests.
final class RecordingScheduler: BackgroundScheduler {
  private let list = Mutex<[BackgroundRequest]>([])

  var requests: [BackgroundRequest] { list.withLock { $0 } }

  func schedule(_ request: BackgroundRequest) { list.withLock { $0.append(request) } }
}

/// Records notices.
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

/// A background run that expires when the test calls `timeIsUp()`.
final class ManualRun: BackgroundRun {
  private let state = Mutex<(handler: (@Sendable () -> Void)?, completions: [Bool])>((nil, []))

  var completions: [Bool] { state.withLock { $0.completions } }
  var isWaiting: Bool { state.withLock { $0.handler != nil } }

  func setExpirationHandler(_ handler: @escaping @Sendable () -> Void) {
    state.withLock { $0.handler = handler }
  }

  func complete(success: Bool) { state.withLock { $0.completions.append(success) } }

  func timeIsUp() { state.withLock { $0.handler }?() }
}

/// A device attestation that counts up, or fails.
final class TestAttestation: DeviceAttestation {
  struct Unavailable: Error {}

  private let state = Mutex<(count: UInt8, isSilent: Bool)>((0, false))

  func disable() { state.withLock { $0.isSilent = true } }

  func token() async throws -> Data {
    try state.withLock {
      if $0.isSilent { throw Unavailable() }
      $0.count += 1
      return Data([$0.count])
    }
  }
}

/// Records the trusted keys and the withdrawn files.
final class RecordingTrust: KeyFileTrust {
  struct Unavailable: Error {}

  private struct State {
    var keys: [DeviceConfiguration.Key] = []
    var withdrawals: [Set<KeyFileHash>] = []
    var failures = 0
    var confirm: (@Sendable () -> Void)?
    var isClockWrong = false
    var refusedRegion: String?
  }

  private let state = Mutex(State())

  var keys: [DeviceConfiguration.Key] { state.withLock { $0.keys } }
  var withdrawals: [Set<KeyFileHash>] { state.withLock { $0.withdrawals } }
  var isClockWrong: Bool { state.withLock { $0.isClockWrong } }

  /// Makes the next `count` withdrawals fail.
  func fail(_ count: Int) { state.withLock { $0.failures = count } }

  /// Makes the framework refuse files of this region, and no others.
  func refuse(region: String) { state.withLock { $0.refusedRegion = region } }

  func isOwnRegion(_ region: String) -> Bool { state.withLock { $0.refusedRegion != region } }

  func trust(_ keys: [DeviceConfiguration.Key]) { state.withLock { $0.keys = keys } }

  /// Sets the effect of a confirmation.
  func onConfirmation(_ confirm: @escaping @Sendable () -> Void) {
    state.withLock { $0.confirm = confirm }
  }

  func setClock(isWrong: Bool, secondsAhead: TimeInterval?) {
    state.withLock { $0.isClockWrong = isWrong }
  }

  func confirmKeyFilesPassed() async throws { state.withLock { $0.confirm }?() }

  func withdraw(_ files: Set<KeyFileHash>) async throws {
    try state.withLock {
      guard $0.failures == 0 else {
        $0.failures -= 1
        throw Unavailable()
      }
      $0.withdrawals.append(files)
    }
  }
}
