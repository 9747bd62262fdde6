// SPDX-License-Identifier: Apache-2.0
import Foundation
import Populations
import Synchronization
import Terminal
import World

/// The files that `firebreak simulate` writes: never some of two runs.
///
/// They are written to a hidden folder, which is renamed when it is complete. From then on they are the results: the
/// files of an earlier run are removed and these moved to their place, by the next run in the folder if this one is
/// killed meanwhile.
struct SimulationFiles: Sendable {
  private let folder: URL
  private let lock: HeldFolderLock
  /// The folders that were created for the results, the innermost first.
  private let created: [URL]
  private let replacement = Replacement()

  private final class Replacement: Sendable {
    /// True if the new files are complete. Locked until they have their names, so that a signal does not end the
    /// process in between.
    let hasBegun = Mutex(false)
  }

  private static let names = ["events.csv", "summary.json", "report.html"]
  private static let unfinishedName = ".unfinished-results"
  private static let finishedName = ".finished-results"

  /// Creates the folder, and ends the replacement that a killed run has begun. Called before the work begins, so that
  /// an unusable path is reported at once.
  ///
  /// - Parameter inputs: The paths of the files that are read.
  /// - Throws: `CommandFailure` if it cannot be written to, has an input in the place of a result, or another run
  ///   writes to it.
  init(_ path: String, inputs: [String]) throws {
    let folder = URL(fileURLWithPath: path, isDirectory: true)
    let places = ResultFile.places(ofInputs: inputs)
    for url in Self.names.map(folder.appendingPathComponent)
    where places.contains(ResultFile.place(of: url)) {
      throw CommandFailure.badInput(
        "\(url.path.printable) would be replaced: name another folder with --output.")
    }
    created = FileManager.default.missingFolders(of: folder)
    // If it cannot be created, it cannot be written to either, which is checked below.
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let isWritable =
      FileManager.default.isFolder(at: folder.path) && access(folder.path, W_OK | X_OK) == 0
    let blocked = Self.names.map(folder.appendingPathComponent).first {
      FileManager.default.isFolder(at: $0.path)
    }
    guard isWritable, blocked == nil else {
      Self.removeEmpty(created)
      throw Self.unusable(blocked?.path ?? path)
    }
    guard let lock = try FolderLock.hold(on: folder) else {
      throw CommandFailure.badInput(
        "Another simulation writes to \(path.printable): name another folder with --output.")
    }
    self.folder = folder
    self.lock = lock
    try endReplacement()
  }

  private static func unusable(_ path: String) -> CommandFailure {
    .badInput(
      "The results cannot be written to \(path.printable): name another folder with --output.")
  }

  private var unfinished: URL { folder.appendingPathComponent(Self.unfinishedName) }
  private var finished: URL { folder.appendingPathComponent(Self.finishedName) }

  /// Removes the unfinished files of a killed run, and puts its finished ones in their place.
  private func endReplacement() throws {
    removeUnfinished()
    do throws(FileError) {
      try replace()
    } catch {
      throw failure(error, isComplete: true)
    }
    let other = [unfinished, finished].first { FileManager.default.fileExists(atPath: $0.path) }
    if let other { throw Self.unusable(other.path) }
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
      guard mkdir(unfinished.path, 0o755) == 0 else { throw FileError(.create, unfinished) }
      for (name, text) in zip(Self.names, texts) {
        try AtomicFile.write(
          text.utf8, to: unfinished.appendingPathComponent(name), permissions: 0o644)
      }
      try replacement.hasBegun.withLock { hasBegun throws(FileError) in
        try Self.rename(unfinished, to: finished)
        hasBegun = true
        try replace()
      }
    } catch {
      throw failure(error, isComplete: replacement.hasBegun.withLock { $0 })
    }
  }

  /// Moves the finished files to their place. It can be repeated: files that were moved already stay.
  private func replace() throws(FileError) {
    let pending = Self.names.filter {
      FileManager.default.fileExists(atPath: finished.appendingPathComponent($0).path)
    }
    guard !pending.isEmpty else {
      rmdir(finished.path)
      return
    }
    // First, so that files of two runs are never there at one time, nor after a power failure.
    for name in pending { try remove(folder.appendingPathComponent(name)) }
    try AtomicFile.sync(folder)
    for name in pending {
      try Self.rename(
        finished.appendingPathComponent(name), to: folder.appendingPathComponent(name))
    }
    rmdir(finished.path)
  }

  private static func rename(_ url: URL, to other: URL) throws(FileError) {
    guard Foundation.rename(url.path, other.path) == 0 else { throw FileError(.rename, other) }
    try AtomicFile.sync(other.deletingLastPathComponent())
  }

  private func failure(_ error: FileError, isComplete: Bool) -> CommandFailure {
    let cause = String(cString: strerror(error.code)).lowercased()
    let fault = "The results could not be written to \(folder.path.printable): \(cause); "
    guard isComplete else {
      return .machineFailed(
        fault + "free disk space or check the folder, and simulate again.")
    }
    return .machineFailed(
      fault + "files of an earlier run may be removed already, and all others are in "
        + "\(Self.finishedName) there. Check the folder and move them, or let the next simulation in it do so."
    )
  }

  /// Removes what a run without results leaves: unfinished files, and the folders that were created for them.
  /// Finished files that could not be moved stay, because those of the earlier run may be gone.
  @Sendable func discardUnfinished() {
    replacement.hasBegun.withLock { hasBegun in
      guard !hasBegun else { return }
      removeUnfinished()
      Self.removeEmpty(created)
    }
  }

  private func removeUnfinished() {
    guard FileManager.default.isFolder(at: unfinished.path) else { return }
    // If the folder cannot be removed, the next run reports it.
    try? FileManager.default.removeItem(at: unfinished)
  }

  private func remove(_ url: URL) throws(FileError) {
    guard unlink(url.path) == 0 || errno == ENOENT else { throw FileError(.write, url) }
  }

  /// Removes folders that are empty.
  private static func removeEmpty(_ folders: [URL]) {
    for folder in folders { rmdir(folder.path) }
  }
}
