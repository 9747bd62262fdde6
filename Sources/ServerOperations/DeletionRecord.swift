// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings
import World

/// The record of the deletion of a service, a file in the folder of the servers with a JSON object in each line.
///
/// Each step is on the disk before it is taken, so that the next run certifies what an interrupted one has deleted. The
/// file stays: servers do not start in a folder that has one.
struct DeletionRecord {
  /// One line: the begin of a run, a file before it is deleted, a file that is left for phones, or a place with data
  /// that is not deleted.
  private struct Line: Codable {
    var begun: Begin?
    var deleting: DeletionCertificate.File?
    var kept: String?
    var leaving: String?
  }

  /// The begin of a run.
  struct Begin: Codable {
    /// Unix seconds.
    let at: Int64
    let servers: [String]
    /// The version of the instruction to stop.
    let version: Int
  }

  private let file: URL
  private var lines: [Line]

  /// Reads the record in `file`; an empty one if there is none.
  ///
  /// - Throws: `FileError` or the error of reading.
  init(in file: URL) throws {
    self.file = file
    guard FileManager.default.fileExists(atPath: file.path) else {
      lines = []
      return
    }
    let decoder = JSONDecoder()
    // The step of a line that was not written completely was not taken.
    lines = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).compactMap {
      decoder.decodeIfValid(Line.self, from: Data($0))
    }
  }

  /// The begin of the latest run; nil before the first.
  var lastBegin: Begin? { lines.last { $0.begun != nil }?.begun }

  /// True if the deletion of tables of `database` has begun.
  func hasTables(of database: String) -> Bool {
    lines.contains { $0.deleting?.path.hasPrefix(database + " ") == true }
  }

  mutating func begin(at now: Date, servers: [String], version: Int) throws {
    try append(
      Line(begun: Begin(at: now.unixSecond, servers: servers, version: version)))
  }

  mutating func willDelete(_ file: DeletionCertificate.File) throws {
    try append(Line(deleting: file))
  }

  mutating func keeps(_ path: String) throws { try append(Line(kept: path)) }

  mutating func leaves(_ place: String) throws { try append(Line(leaving: place)) }

  private mutating func append(_ line: Line) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // An incomplete line of an interrupted run is ended first.
    let lineFeed = UInt8(ascii: "\n")
    var bytes = [lineFeed]
    bytes += try encoder.encode(line)
    bytes.append(lineFeed)
    let isNew = !FileManager.default.fileExists(atPath: file.path)
    let descriptor = open(file.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileError(.open, file) }
    defer { close(descriptor) }
    try AtomicFile.append(bytes, to: descriptor, at: file)
    try AtomicFile.sync(descriptor, at: file)
    if isNew { try AtomicFile.sync(file.deletingLastPathComponent()) }
    lines.append(line)
  }

  /// The certificate of all runs, of which the last ended at `now`.
  ///
  /// - Parameter places: Places with data at this moment, besides those of the record.
  func certificate(at now: Date, besides places: [String]) -> DeletionCertificate {
    let begins = lines.compactMap(\.begun)
    var (deleted, indices): ([DeletionCertificate.File], [String: Int]) = ([], [:])
    // An interrupted run may have announced a file that only the next one has deleted.
    for file in lines.compactMap(\.deleting) {
      if let index = indices[file.path] {
        deleted[index] = file
      } else {
        indices[file.path] = deleted.count
        deleted.append(file)
      }
    }
    return DeletionCertificate(
      begunAt: begins.first?.at ?? now.unixSecond, deletedAt: now.unixSecond,
      servers: Set(begins.flatMap(\.servers)).sorted(),
      deviceConfigurationVersion: begins.last?.version, deleted: deleted,
      kept: Set(lines.compactMap(\.kept)).sorted(),
      notDeleted: Set(lines.compactMap(\.leaving) + places).sorted())
  }
}
