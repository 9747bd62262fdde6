// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import TextEncodings
import World

/// A log with one JSON object a line: `time` (RFC 3339, UTC), `level`, `source`, `message`, and the metadata.
package struct JSONLogHandler: LogHandler {
  package var logLevel: Logger.Level
  package var metadata = Logger.Metadata()
  private let clock: any WallClock
  private let write: @Sendable (String) -> Void

  private static let ownFields: Set<String> = ["time", "level", "source", "message"]

  /// - Parameters:
  ///   - logLevel: The lowest level that is logged.
  ///   - clock: The clock of the entries.
  ///   - write: Writes a line, which has its line feed. By default to stderr.
  package init(
    logLevel: Logger.Level, clock: any WallClock = SystemClock(),
    write: @escaping @Sendable (String) -> Void = Self.writeToStandardError
  ) {
    self.logLevel = logLevel
    self.clock = clock
    self.write = write
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var fields: [String: JSONValue] = [:]
    for (name, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }) {
      fields[Self.ownFields.contains(name) ? "metadata.\(name)" : name] = Self.json(value)
    }
    fields["time"] = .string(
      clock.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    fields["level"] = .string(event.level.rawValue)
    fields["source"] = .string(event.source)
    fields["message"] = .string("\(event.message)")
    write(JSONValue.object(fields).text + "\n")
  }

  private static func json(_ value: Logger.Metadata.Value) -> JSONValue {
    switch value {
    case .dictionary(let values): .object(values.mapValues(json))
    case .array(let values): .array(values.map(json))
    default: .string("\(value)")
    }
  }

  /// Writes a line in one call, so that lines of several threads do not mix.
  package static let writeToStandardError: @Sendable (String) -> Void = { line in
    // A log that cannot be written has no other place to tell it.
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
  }
}
