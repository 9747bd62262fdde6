// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Logging
import Terminal

/// A log of the servers' own entries.
///
/// Entries of the libraries are left out: most report closed connections, and they quote client data.
struct ServerLog: LogHandler {
  private var handler: any LogHandler

  private static let libraries = ["Hummingbird", "HummingbirdCore", "ServiceLifecycle"]

  var logLevel: Logger.Level {
    get { handler.logLevel }
    set { handler.logLevel = newValue }
  }
  var metadata: Logger.Metadata {
    get { handler.metadata }
    set { handler.metadata = newValue }
  }

  init(_ handler: any LogHandler) {
    self.handler = handler
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { handler[metadataKey: key] }
    set { handler[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    guard !Self.libraries.contains(event.source) else { return }
    handler.log(event: event)
  }
}

/// The form of a log.
enum LogFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json

  /// A log in this form on stderr.
  func handler(level: Logger.Level) -> any LogHandler {
    switch self {
    case .text:
      var handler = StreamLogHandler.standardError(label: "firebreak")
      handler.logLevel = level
      return handler
    case .json: return JSONLogHandler(logLevel: level)
    }
  }

  /// Runs `body`, whose remarks have this form.
  func withRemarks<Value: Sendable>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    guard self == .json else { return try await body() }
    return try await Remarks.$log.withValue({ tell($0, level: .warning) }, operation: body)
  }

  /// Tells the operator what needs attention: as a line, or as an entry of `level` in a log of JSON objects.
  func tell(_ text: String, level: Logger.Level = .notice) {
    switch self {
    case .text: note(text)
    case .json:
      Logger(label: "firebreak") { _ in handler(level: level) }
        .log(level: level, "\(text)", source: "firebreak")
    }
  }
}
