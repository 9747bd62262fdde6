// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization

/// The log messages of a test, at every level.
public final class CollectedLog: Sendable {
  private let collected = Mutex<[Line]>([])

  private struct Line {
    let level: Logger.Level
    let message: String
    let metadata: Logger.Metadata
  }

  public init() {}

  /// The entries with level, message and metadata.
  public var lines: [String] {
    collected.withLock { $0.map { "\($0.level) \($0.message) \($0.metadata)" } }
  }

  /// The messages at level error.
  public var errors: [String] {
    collected.withLock { $0.filter { $0.level >= .error }.map(\.message) }
  }

  public var logger: Logger {
    var logger = Logger(label: "test") { _ in Handler(log: self) }
    logger.logLevel = .trace
    return logger
  }

  private struct Handler: LogHandler {
    let log: CollectedLog
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let line = Line(
        level: event.level, message: "\(event.message)",
        metadata: metadata.merging(event.metadata ?? [:]) { $1 })
      log.collected.withLock { $0.append(line) }
    }
  }
}
