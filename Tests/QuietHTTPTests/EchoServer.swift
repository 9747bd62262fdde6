// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import QuietHTTP
import Synchronization
import TestSupport
import World

/// A small server with all middleware. `/echo` returns the word and counts its effects, `/user` the user of the client.
struct EchoServer {
  struct Word: Codable { let word: String }

  static let bodyBytesMax = 200
  /// More than the buffers of the system hold for a client that does not read.
  static let largeBytes = 32 << 20

  let server: QuietServer
  let effects = Counter()
  /// Moves only by the word `work` and by waits for the grid.
  let stopwatch = ManualStopwatch()
  /// Requests with the word `held` wait here.
  let gate = Gate()
  let log = CollectedLog()

  /// On a busy machine a test may be suspended for longer than any timeout, so there is none but those that
  /// the test sets.
  ///
  /// - Parameter file: The content of `/file`.
  init(
    allowedOrigin: String? = nil, trustedProxies: TrustedProxies = .none,
    bodySeconds: Int = Patience.seconds, file: URL? = nil, clock: any WallClock = SystemClock(),
    _ change: (inout ConnectionLimits) -> Void = { _ in }
  ) {
    var limits = ConnectionLimits()
    limits.idleSeconds = Patience.seconds
    limits.responseSeconds = Patience.seconds
    limits.bodies.checkSeconds = Patience.seconds
    change(&limits)
    let router = Router.quiet(
      refusals: .plain, allowedOrigin: allowedOrigin, trustedProxies: trustedProxies,
      randomness: SystemRandomness())
    router.post("/echo", Self.echo(bodySeconds, effects, stopwatch, gate))
    router.get("/people/:name") { _, _ in "hello" }
    router.get("/user") { _, context in "\(context.peerUserID.map(Int.init) ?? -1)" }
    router.get("/large") { _, _ in ByteBuffer(repeating: 0x20, count: Self.largeBytes) }
    if let file {
      router.get("/file") { request, context in
        try FileDownload(file).response(
          to: request, modified: Date(timeIntervalSince1970: 0), headers: [:], in: context)
      }
    }
    router.get("/broken") { _, _ -> String in throw CocoaError(.coderInvalidValue) }
    server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, trustedProxies: trustedProxies, limits: limits,
      clock: clock, logger: log.logger)
  }

  private static func echo(
    _ bodySeconds: Int, _ effects: Counter, _ stopwatch: ManualStopwatch, _ gate: Gate
  ) -> QuietRoute<Word> {
    QuietRoute<Word>(
      limit: BodyLimit(bytesMax: bodyBytesMax, secondsMax: bodySeconds), refusals: .plain,
      randomness: SystemRandomness(),
      times: ResponseTimes(randomness: SystemRandomness(), stopwatch: stopwatch),
      decoy: { _ in try PaddedResponse(["word": ""]) },
      respond: { request in
        effects.add()
        switch request.body.word {
        case "storage":
          return try await QuietRefusal.mappingServerErrors(request.context.logger) {
            throw CocoaError(.fileWriteOutOfSpace)
          }
        case "fault": throw POSIXError(.EDEADLK)
        case "held": try await gate.wait()
        case "work": stopwatch.advance(by: .milliseconds(300))
        case "refused": throw QuietRefusal.notFound
        case "busy": throw QuietRefusal.tooManyAttempts(retryAfterSeconds: 600)
        default: break
        }
        return try PaddedResponse(["word": request.body.word])
      })
  }

  /// Runs the server on a free port during `work`.
  func running(_ work: (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [server] in
        do { try await server.run() } catch is CancellationError {}
      }
      try await work(server.boundPort)
      group.cancelAll()
    }
  }
}

/// A thread-safe counter.
final class Counter: Sendable {
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  func add() { number.withLock { $0 += 1 } }
}
