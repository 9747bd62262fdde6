// SPDX-License-Identifier: Apache-2.0
import Bench
import Terminal
import World

/// Measurements of uploads to key servers: each connection sends its next upload after the response to the last one.
struct ClosedLoop {
  static let keysPerUpload = 14

  /// The uploads of each measurement.
  let uploads: Int
  /// The processor time of a database in processes of its own.
  var databaseTime: () -> Duration = { .zero }

  /// Sends the uploads over `connections` to each of `servers`, at the same time.
  func measure(
    _ servers: [PublishServerProcess], connections: Int
  ) async throws -> MeasuredUploads {
    let bar = ProgressLine("uploads")
    defer { bar.clear() }
    let loads = servers.map { UploadLoad(target: $0.target, connections: connections) }
    var prepared: [[PreparedUpload]] = []
    for server in servers {
      prepared.append(
        try await UploadMaker(
          server.target, keysPerUpload: Self.keysPerUpload, clock: SystemClock(),
          randomness: SystemRandomness()
        ).uploads(connections + uploads / servers.count, bar))
    }
    for (load, uploads) in zip(loads, prepared) {
      _ = try await load.send(Array(uploads.prefix(connections)))
    }
    bar.show("Sending \(uploads) uploads")
    let clocks = servers.compactMap { CPUClock(process: $0.processID) }
    let (server, database) = (Self.time(of: clocks), databaseTime())
    let start = ContinuousClock.now
    let exchanges = try await withThrowingTaskGroup(of: [UploadExchange].self) { group in
      for (load, uploads) in zip(loads, prepared) {
        group.addTask { try await load.send(Array(uploads.dropFirst(connections))) }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let wall = ContinuousClock.now - start
    return MeasuredUploads(
      exchanges, wall: wall, server: Self.time(of: clocks) - server,
      database: databaseTime() - database)
  }

  private static func time(of clocks: [CPUClock]) -> Duration {
    clocks.reduce(.zero) { $0 + ($1.now ?? .zero) }
  }
}
