// SPDX-License-Identifier: Apache-2.0
import Foundation
import UnixSockets
import World

/// The place outside the console's database that gets a copy of each entry of the audit log.
package enum AuditDestination: Hashable, Sendable {
  /// A file, to which lines are appended. Another program may rename it at any time.
  case file(URL)
  /// The socket of a syslog daemon, such as `/dev/log`.
  case syslog(path: String)
}

/// Copies new entries of the audit log to a destination, in order.
///
/// The last copied entry is stored in a file. After a crash entries may be copied again, which their numbers show, and
/// none is left out. If the log was replaced, for example by a restoration, it is copied from its start.
struct AuditForwarder: Sendable {
  let audit: AuditLog
  let destination: AuditDestination
  /// The file with the number and the hash of the last copied entry.
  let progressFile: URL

  /// Facility `authpriv` (10) and severity `notice` (5) of RFC 5424.
  private static let priority = 10 * 8 + 5
  /// The words before an entry in a message to a syslog daemon.
  static let tag = "firebreak-audit: "

  private struct Progress: Codable {
    var sequence: Int64 = 0
    var hash = AuditEntry.zeroHash
  }

  /// Copies all entries that are not copied yet.
  ///
  /// - Returns: False if the log does not contain the last copied entry, so that it was copied from its start.
  /// - Throws: The error of the database, `FileError` or `UnixSocketError`.
  @discardableResult
  func forwardNew() async throws -> Bool {
    var progress = storedProgress
    let isKnown = try await contains(progress)
    if !isKnown { progress = Progress() }
    while true {
      let entries = try await audit.entries(
        after: progress.sequence, ConsoleLimit.auditEntriesAtOnce)
      guard let last = entries.last else { return isKnown }
      try copy(entries)
      progress = Progress(sequence: last.sequence, hash: last.hash)
      try AtomicFile.write(try JSONEncoder().encode(progress), to: progressFile)
    }
  }

  private var storedProgress: Progress {
    // Without a readable file all entries are copied again.
    FileManager.default.contents(atPath: progressFile.path)
      .flatMap { try? JSONDecoder().decode(Progress.self, from: $0) } ?? Progress()
  }

  private func contains(_ progress: Progress) async throws -> Bool {
    guard progress.sequence > 0 else { return true }
    return try await audit.entries(after: progress.sequence - 1, 1).first?.hash == progress.hash
  }

  private func copy(_ entries: [AuditEntry]) throws {
    switch destination {
    case .file(let file):
      try append(entries.map { $0.line + "\n" }.joined(), to: file)
    case .syslog(let path):
      for entry in entries {
        try UnixDatagram.send(
          "<\(Self.priority)>\(Self.tag)\(entry.line)".utf8, to: .file(path))
      }
    }
  }

  /// Appends whole lines: what a full disk has left of them is removed again, and so is an entry that a crash has cut.
  private func append(_ text: String, to file: URL) throws {
    let descriptor = open(file.path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileError(.open, file) }
    defer { close(descriptor) }
    let (end, size) = try Self.endOfEntries(descriptor, of: file)
    do throws(FileError) {
      // A file that can only be appended to refuses this.
      guard end == size || ftruncate(descriptor, end) == 0 else { throw FileError(.write, file) }
      try AtomicFile.append(Array(text.utf8), to: descriptor, at: file)
      try AtomicFile.sync(descriptor, at: file)
    } catch {
      // The entries are copied again later. If this fails too, the next copy removes the rest of a line.
      _ = ftruncate(descriptor, end)
      throw error
    }
  }

  /// The end of the file without an entry that was cut, and its size. Other content is not removed.
  private static func endOfEntries(
    _ descriptor: Int32, of file: URL
  ) throws(FileError) -> (end: off_t, size: off_t) {
    let end = lseek(descriptor, 0, SEEK_END)
    guard end >= 0 else { throw FileError(.open, file) }
    let start = max(0, end - off_t(ConsoleLimit.auditLineBytesMax))
    let count = Int(end - start)
    var last = [UInt8](repeating: 0, count: count)
    guard pread(descriptor, &last, count, start) == count else {
      throw FileError(.open, file)
    }
    let rest = last.lastIndex(of: UInt8(ascii: "\n")).map { last[($0 + 1)...] } ?? last[...]
    return (rest.first == UInt8(ascii: "{") ? end - off_t(rest.count) : end, end)
  }
}
