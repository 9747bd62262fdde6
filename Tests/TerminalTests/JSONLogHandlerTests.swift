// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization
import Terminal
import TestSupport
import Testing

@Suite("The log as JSON")
struct JSONLogHandlerTests {
  private final class Lines: Sendable {
    let lines = Mutex<[String]>([])
  }

  private func fields(
    level: Logger.Level = .info, _ log: (Logger) -> Void
  ) throws -> [[String: String]] {
    let (written, clock) = (Lines(), ManualClock(Date(timeIntervalSince1970: 1_600_000_000.25)))
    log(
      Logger(label: "test") { _ in
        JSONLogHandler(logLevel: level, clock: clock) { line in
          written.lines.withLock { $0.append(line) }
        }
      })
    return try written.lines.withLock { $0 }.map { line in
      #expect(line.hasSuffix("\n") && line.dropLast().allSatisfy { !$0.isNewline })
      let json = try JSONSerialization.jsonObject(with: Data(line.utf8))
      return try #require(json as? [String: String])
    }
  }

  @Test("An entry is one object in one line, with the metadata of the logger and of the entry")
  func entry() throws {
    let entries = try fields { logger in
      var logger = logger
      logger[metadataKey: "request"] = "r1"
      logger.error("line\nwith \"quotes\"", metadata: ["cause": "disk"], source: "KeyServer")
      logger.debug("below the level")
    }
    #expect(
      entries == [
        [
          "time": "2020-09-13T12:26:40.250Z", "level": "error", "source": "KeyServer",
          "message": "line\nwith \"quotes\"", "request": "r1", "cause": "disk",
        ]
      ])
  }

  @Test("Metadata cannot replace the fields of an entry")
  func reserved() throws {
    let entry = try #require(
      try fields { $0.info("text", metadata: ["level": "x", "time": "y"], source: "s") }.first)
    #expect(entry["level"] == "info" && entry["metadata.level"] == "x")
    #expect(entry["time"] != "y" && entry["metadata.time"] == "y")
  }
}
