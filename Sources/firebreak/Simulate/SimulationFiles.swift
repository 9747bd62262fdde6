// SPDX-License-Identifier: Apache-2.0
import Foundation
import Populations
import Synchronization
import Terminal
import World

/// The files that `firebreak simulate` writes: never some of two runs.
struct SimulationFiles: Sendable {
  private let folder: URL
  private let lock: HeldFolderLock
  /// The folders that were created for the results, the innermost first.
  private let created: [URL]
  private let replacement = Replacement()

  /// The removal of the files of an earlier run, after which the new ones may be all that is left.
  private final class Replacement: Sendable {
    /// Locked until the new files have their names, so that a signal does not end the process in between.
    let hasBegun = Mutex(false)
  }

  private static let names = ["events.csv", "summary.json", "report.html"]

  /// Creates the folder. Called before the work begins, so that an unusable path is reported at once.
  ///
  /// - Throws: `CommandFailure` if it cannot be written to, or another run writes to it.
  init(_ path: String) throws {
    let folder = URL(fileURLWithPath: path, isDirectory: true)
    created = Self.missingFolders(of: folder)
    // If it cannot be created, it cannot be written to either, which is checked below.
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let isWritable =
      FileManager.default.isFolder(at: folder.path) && access(folder.path, W_OK | X_OK) == 0
    let blocked = Self.names.map(folder.appendingPathComponent).first {
      FileManager.default.isFolder(at: $0.path)
    }
    guard isWritable, blocked == nil else {
      Self.removeEmpty(created)
      throw CommandFailure.badInput(
        "The results cannot be written to \((blocked?.path ?? path).printable): "
          + "name another folder with --output.")
    }
    guard let lock = try FolderLock.hold(on: folder) else {
      throw CommandFailure.badInput(
        "Another simulation writes to \(path.printable): name another folder with --output.")
    }
    self.folder = folder
    self.lock = lock
  }

  /// Writes the files, and replaces those of an earlier run when all are on the disk.
  func write(_ result: PopulationResult) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let summary = try encoder.encode(PopulationSummary(result))
    let texts = [
      result.eventsCSV, String(decoding: summary, as: UTF8.self) + "\n",
      PopulationPage(result).html,
    ]
    do throws(FileError) {
      for (name, text) in zip(Self.names, texts) {
        try AtomicFile.write(text.utf8, to: unfinished(name), permissions: 0o644)
      }
      try replace()
    } catch {
      throw failure(error)
    }
  }

  /// Gives the new files their names.
  private func replace() throws(FileError) {
    try replacement.hasBegun.withLock { hasBegun throws(FileError) in
      hasBegun = true
      // First, so that files of two runs are never there at one time.
      for name in Self.names { try remove(folder.appendingPathComponent(name)) }
      for name in Self.names {
        try AtomicFile.publish(unfinished(name), as: folder.appendingPathComponent(name))
      }
    }
  }

  private func failure(_ error: FileError) -> CommandFailure {
    let cause = String(cString: strerror(error.code)).lowercased()
    let fault = "The results could not be written to \(folder.path.printable): \(cause); "
    guard replacement.hasBegun.withLock({ $0 }) else {
      return .machineFailed(
        fault + "free disk space or check the folder, and simulate again.")
    }
    let kept = Self.names.filter { FileManager.default.fileExists(atPath: unfinished($0).path) }
      .map { "\(unfinished($0).lastPathComponent) as \($0)" }
    return .machineFailed(
      fault + "files of an earlier run may be removed already. Check the folder, and rename there "
        + "\(kept.joined(separator: ", ")).")
  }

  /// Removes what a run without results leaves: unfinished files, and the folders that were created for them. Files
  /// that could not get their names stay, because those of the earlier run may be gone.
  @Sendable func discardUnfinished() {
    replacement.hasBegun.withLock { hasBegun in
      guard !hasBegun else { return }
      for name in Self.names { unlink(unfinished(name).path) }
      Self.removeEmpty(created)
    }
  }

  /// A file that has no final name yet; that of a killed run is replaced.
  private func unfinished(_ name: String) -> URL {
    folder.appendingPathComponent(".\(name).unfinished-results")
  }

  private func remove(_ url: URL) throws(FileError) {
    guard unlink(url.path) == 0 || errno == ENOENT else { throw FileError(.write, url) }
  }

  private static func missingFolders(of folder: URL) -> [URL] {
    var missing: [URL] = []
    var next = folder.standardizedFileURL
    while !FileManager.default.fileExists(atPath: next.path), next.pathComponents.count > 1 {
      missing.append(next)
      next.deleteLastPathComponent()
    }
    return missing
  }

  /// Removes folders that are empty.
  private static func removeEmpty(_ folders: [URL]) {
    for folder in folders { rmdir(folder.path) }
  }
}
