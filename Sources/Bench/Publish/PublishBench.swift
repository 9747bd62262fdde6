import Foundation
import Terminal
import World

/// One measurement: generates uploads, sends them and evaluates the responses.
struct PublishBench {
  let connections: Int
  let requests: Int
  let keysPerRequest: Int
  let hasChaff: Bool
  let clock: any WallClock
  let randomness: any Randomness

  /// Measures a key server that it starts as another process.
  func run() async throws -> PublishReport {
    try await PublishServerProcess.withRunning { server in
      try await run(
        against: server.target, process: CPUClock(process: server.processID), database: .sqlite)
    }
  }

  /// Measures a running server.
  func run(against target: PublishTarget) async throws -> PublishReport {
    try await run(against: target, process: nil, database: .external)
  }

  private func run(
    against target: PublishTarget, process: CPUClock?, database: PublishReport.Database
  ) async throws -> PublishReport {
    let bar = ProgressLine("uploads")
    defer { bar.clear() }
    let uploads = try await uploads(for: target, bar)
    let load = UploadLoad(target: target, connections: connections)
    // A warm-up request per connection: the first responses of a server are slower.
    _ = try await load.send(Array(uploads.prefix(connections)))
    let (serverBefore, generatorBefore) = (process?.now, CPUClock.currentProcess.now ?? .zero)
    let start = ContinuousClock.now
    let exchanges = try await load.send(Array(uploads.dropFirst(connections))) { [requests] count in
      bar.show(count, of: requests)
    }
    let wall = ContinuousClock.now - start
    let generator = (CPUClock.currentProcess.now ?? .zero) - generatorBefore
    let server = process?.now.flatMap { now in serverBefore.map { now - $0 } }
    return PublishReport(
      exchanges, keysPerRequest: keysPerRequest, connections: connections, database: database,
      wall: wall,
      processors: PublishReport.Processors(
        generator: microseconds(generator), server: server.map(microseconds),
        // SQLite runs inside the server process.
        database: database == .sqlite ? 0 : nil),
      hasChaff: hasChaff)
  }

  /// The uploads of the warm-up first. With decoys, every second one of the others is one.
  private func uploads(
    for target: PublishTarget, _ bar: ProgressLine
  ) async throws -> [PreparedUpload] {
    let maker = try UploadMaker(
      target, keysPerUpload: keysPerRequest, clock: clock, randomness: randomness)
    let uploads = try await maker.uploads(connections + requests, bar) { number in
      hasChaff && number >= connections && number.isMultiple(of: 2)
    }
    guard hasChaff else { return uploads }
    return uploads.prefix(connections) + randomness.shuffled(uploads.dropFirst(connections))
  }

  private func microseconds(_ time: Duration) -> Double {
    (time / .microseconds(requests)).rounded(to: 1)
  }
}
