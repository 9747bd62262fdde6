// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The requests of one check to one server.
///
/// A response of 503 or 429 ends all requests until the pause that it asks for. Failed downloads are
/// repeated after a growing random pause. After several failures in a row, no more requests are sent.
actor RetryingNetwork: Network {
  /// The pause to store for later checks.
  private(set) var pause: ServerPause
  /// The reason why no more requests are sent; `nil` as long as they are.
  private(set) var failure: CheckFailure?
  /// The phone's clock compared with the server's documents.
  private(set) var clockComparison = ClockComparison()

  private let network: any Network
  private let clock: any WallClock
  private let randomness: any Randomness
  private var retryCount = 0
  private var failuresInARow = 0

  init(_ network: any Network, pause: ServerPause, clock: any WallClock, randomness: any Randomness)
  {
    self.network = network
    self.pause = pause
    self.clock = clock
    self.randomness = randomness
  }

  var connection: NetworkConnection { get async { await network.connection } }

  /// Sets the number of retries of each download.
  func setRetries(_ count: Int) { retryCount = count }

  /// Sends a request once.
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try requireService()
    let sent = clock.now
    var response = try await network.send(request)
    response.secondsAhead = response.secondsAhead(sent: sent, received: clock.now)
    return try note(response)
  }

  /// Compares the phone's clock with a response that is known to come from the server: its document was accepted, or
  /// it is the answer 304 to a version of one. A network that answers in place of the server may have another clock.
  func accept(_ response: NetworkResponse) {
    if let seconds = response.secondsAhead { clockComparison.note(secondsAhead: seconds) }
  }

  /// Downloads a file, with retries.
  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    var attempt = 0
    while true {
      do {
        try requireService()
        let response = try note(try await network.download(request, to: file))
        failuresInARow = response.status >= 500 ? failuresInARow + 1 : 0
        guard response.status >= 500, attempt < retryCount else { return response }
      } catch let failure as NetworkFailure where failure.isPassing {
        failuresInARow += 1
        guard attempt < retryCount else { throw failure }
      }
      attempt += 1
      let seconds = Backoff.seconds(before: attempt, randomness)
      try await clock.sleep(until: clock.now.addingTimeInterval(seconds))
    }
  }

  private func requireService() throws {
    if let failure { throw failure }
    if pause.lasting(at: clock.now) != nil { throw CheckFailure.serverBusy }
    if failuresInARow >= NetworkLimit.failuresInARowMax { failure = .noConnection }
    if let failure { throw failure }
  }

  private func note(_ response: NetworkResponse) throws -> NetworkResponse {
    switch response.status {
    case 429, 503:
      // Requests that were sent at the same time begin one pause.
      if failure == nil {
        pause.begin(
          at: clock.now, retryAfterSeconds: response.retryAfterSeconds, randomness: randomness)
        failure = .serverBusy
      }
      throw CheckFailure.serverBusy
    case ..<500: if failure == nil { pause.finish() }
    default: break
    }
    return response
  }
}

extension NetworkFailure {
  /// True if the next attempt may succeed.
  fileprivate var isPassing: Bool {
    switch self {
    case .unreachable, .timedOut, .interrupted: true
    case .certificate, .certificateOutOfDate, .tooLarge, .diskFull, .notPermitted, .disk: false
    }
  }
}

/// The time until which a server has asked for no requests. The property names are the JSON keys on disk.
struct ServerPause: Codable, Sendable, Equatable {
  /// The end of the pause.
  private(set) var end: Date?
  /// The number of refusals in a row.
  private(set) var refusals = 0

  /// Begins a pause: as long as the server asks for, otherwise longer after each refusal.
  mutating func begin(at now: Date, retryAfterSeconds: Int?, randomness: any Randomness) {
    let growing = min(
      NetworkLimit.pauseSecondsMin * Double(1 << refusals), NetworkLimit.pauseSecondsMax)
    let asked = Double(min(retryAfterSeconds ?? 0, NetworkLimit.retryAfterSecondsMax))
    end = now.addingTimeInterval(asked > 0 ? asked : growing * Backoff.jitter(randomness))
    refusals = min(refusals + 1, NetworkLimit.refusalsMax)
  }

  /// Ends the pause, because the server answers again.
  mutating func finish() { self = ServerPause() }

  /// The end of the pause if it lasts at `now`. A later one began before the clock was set back.
  func lasting(at now: Date) -> Date? {
    let latest = now.addingTimeInterval(Double(NetworkLimit.retryAfterSecondsMax))
    return end.flatMap { $0 > now && $0 <= latest ? $0 : nil }
  }
}

/// The pauses between the attempts of one request.
enum Backoff {
  /// The pause before attempt `attempt`, counted from 1 for the first retry.
  static func seconds(before attempt: Int, _ randomness: any Randomness) -> TimeInterval {
    let doublings = min(attempt - 1, NetworkLimit.refusalsMax)
    let growing = NetworkLimit.retrySeconds * Double(1 << doublings)
    return min(growing, NetworkLimit.retrySecondsMax) * jitter(randomness)
  }

  /// A random factor from a half to one.
  static func jitter(_ randomness: any Randomness) -> Double {
    0.5 + Double(randomness.number(in: 0...1_000)) / 2_000
  }
}
