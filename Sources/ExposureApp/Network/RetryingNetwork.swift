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

  private let network: any Network
  private let clock: any WallClock
  private let randomness: any Randomness
  private var retryCount = 0
  private var failuresInARow = 0

  init(
    _ network: any Network, pause: ServerPause, clock: any WallClock, randomness: any Randomness
  ) {
    self.network = network
    self.pause = pause
    self.clock = clock
    self.randomness = randomness
  }

  var connection: NetworkConnection {
    get async { await network.connection }
  }

  /// Sets the number of retries of each download.
  func setRetries(_ count: Int) { retryCount = count }

  /// Sends a request once.
  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try requireService()
    return try note(try await network.send(request))
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
    case .tooLarge, .diskFull, .notPermitted, .disk: false
    }
  }
}
