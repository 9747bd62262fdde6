import Logging
import Synchronization

/// A log that a test reads.
final class TestLog: Sendable {
  private let collected = Mutex<[String]>([])

  /// What was logged as an error.
  var errors: [String] { collected.withLock { $0 } }

  var logger: Logger { Logger(label: "test") { _ in Lines(log: self) } }

  private struct Lines: LogHandler {
    let log: TestLog
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      guard event.level >= .error else { return }
      log.collected.withLock { $0.append("\(event.message)") }
    }
  }
}
