import Logging

/// A log that says what somebody has to do something about: the servers' own errors.
///
/// What the libraries below them call an error is mostly a connection that ended, and they quote what they
/// know of it.
struct OwnErrors: LogHandler {
  private var below = StreamLogHandler.standardError(label: "firebreak")

  /// The modules whose word is not passed on.
  private static let libraries = ["Hummingbird", "HummingbirdCore", "ServiceLifecycle"]

  var logLevel = Logger.Level.error
  var metadata: Logger.Metadata {
    get { below.metadata }
    set { below.metadata = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { below[metadataKey: key] }
    set { below[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    guard !Self.libraries.contains(event.source) else { return }
    below.log(event: event)
  }
}
