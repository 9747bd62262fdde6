// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file named on the command line, read completely.
package struct InputFile {
  /// The largest file that is read, in bytes: 750,000 keys as JSON, and room.
  package static let byteCountMax = 256 << 20

  package let content: Data

  /// Reads the file at `path`; `what` names its purpose in error messages.
  package init(_ path: String, what: String) throws {
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      content = try file.read(upToCount: Self.byteCountMax + 1) ?? Data()
    } catch {
      throw CommandFailure.badInput(
        "The \(what) \(path) cannot be read: check its name and its permissions.")
    }
    guard content.count <= Self.byteCountMax else {
      throw CommandFailure.badInput("The \(what) \(path) is too large: split it.")
    }
  }

  /// The content as text; invalid UTF-8 becomes replacement characters.
  package var text: String { String(decoding: content, as: UTF8.self) }
}

/// A UTC day as the command line writes it, `YYYY-MM-DD`.
package struct CalendarDate {
  /// The first moment of the day.
  package let midnight: Date

  /// Fails if `text` is not a day of the calendar from 1970 to 9999.
  package init?(_ text: String) {
    // Text of another form makes the parser throw.
    guard text.utf8.count == 10, let date = try? Date(text, strategy: Self.style),
      date.timeIntervalSince1970 >= 0
    else { return nil }
    // The parser is lenient: it reads 31 February as 3 March.
    guard date.formatted(Self.style) == text else { return nil }
    midnight = date
  }

  package init(midnight: Date) {
    self.midnight = midnight
  }

  package var text: String { midnight.formatted(Self.style) }

  private static let style = Date.ISO8601FormatStyle().year().month().day()
}
