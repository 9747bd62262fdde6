// SPDX-License-Identifier: Apache-2.0
import Foundation
import StrictJSON

/// A file named on the command line, read completely.
package struct InputFile {
  /// The largest file that is read, in bytes: 750,000 keys as JSON, and room.
  package static let byteCountMax = 256 << 20

  package let content: Data

  /// Reads the file at `path`, which may have at most `limit` bytes; `what` names its purpose in error messages.
  ///
  /// - Throws: `CommandFailure` with the name of the file and the cause.
  package init(_ path: String, what: String, byteCountMax limit: Int = byteCountMax) throws {
    let failure = { (fault: String) in
      CommandFailure.badInput("The \(what) \(path.printable) \(fault).")
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw failure("cannot be read: \(Self.cause(errno))")
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT != S_IFDIR else {
      throw failure("cannot be read: it is a folder; name a file")
    }
    // The file system does not tell more than that.
    guard let content = try? file.read(upToCount: limit + 1) ?? Data() else {
      throw failure("cannot be read: the disk failed; check it")
    }
    guard content.count <= limit else {
      throw failure("is too large: it has more than \(limit) bytes; check its name")
    }
    self.content = content
  }

  /// The cause of an error of `open`, and what to do.
  private static func cause(_ code: Int32) -> String {
    switch code {
    case ENOENT, ENOTDIR: "there is no such file; check its name"
    case EACCES, EPERM: "you may not read it; check its permissions"
    default: "\(String(cString: strerror(code)).lowercased()); check its name"
    }
  }

  /// True if all parsers read the content as the same JSON.
  package var isUnambiguousJSON: Bool { content.isUnambiguousJSON }

  /// The fault of valid JSON that is not unambiguous.
  package static let ambiguity =
    "it has a field twice, is nested too deeply, or is not UTF-8: correct it."

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

extension Data {
  /// True if all parsers read the data as the same JSON: no field twice, UTF-8, few levels. A byte order mark is
  /// allowed.
  package var isUnambiguousJSON: Bool { StrictJSONValidator.accepts(withoutByteOrderMark) }

  /// The data without the byte order mark that editors on Windows write before text in UTF-8.
  package var withoutByteOrderMark: Data {
    starts(with: [0xef, 0xbb, 0xbf]) ? Data(dropFirst(3)) : self
  }
}

extension FileManager {
  /// True if there is a folder at `path`.
  package func isFolder(at path: String) -> Bool {
    var isFolder: ObjCBool = false
    return fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
