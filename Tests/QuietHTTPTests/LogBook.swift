import Logging
import Synchronization

/// Keeps everything that was logged, at every level.
final class LogBook: Sendable {
  private let written = Mutex<[String]>([])

  var lines: [String] { written.withLock { $0 } }

  /// Writes into a book.
  struct Handler: LogHandler {
    let book: LogBook
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let all = metadata.merging(event.metadata ?? [:]) { $1 }
      book.written.withLock { $0.append("\(event.level) \(event.message) \(all)") }
    }
  }
}
