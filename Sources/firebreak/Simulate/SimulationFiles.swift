// SPDX-License-Identifier: Apache-2.0
import Foundation
import Populations
import Terminal
import World

/// The files that `firebreak simulate` writes.
struct SimulationFiles {
  private let folder: URL

  /// Creates the folder. Called before the work begins, so that an unusable path is reported at once.
  init(_ path: String) throws {
    folder = URL(fileURLWithPath: path)
    // If it cannot be created, it cannot be written to either, which is checked below.
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    guard FileManager.default.isFolder(at: folder.path), access(folder.path, W_OK | X_OK) == 0
    else {
      throw CommandFailure.badInput(
        "The results cannot be written to \(path.printable): name another folder with --output.")
    }
  }

  func write(_ result: PopulationResult) throws {
    try write(result.eventsCSV, as: "events.csv")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let summary = try encoder.encode(PopulationSummary(result))
    try write(String(decoding: summary, as: UTF8.self) + "\n", as: "summary.json")
    try write(PopulationPage(result).html, as: "report.html")
  }

  private func write(_ text: String, as name: String) throws {
    let url = folder.appendingPathComponent(name)
    do throws(FileError) {
      try AtomicFile.write(text.utf8, to: url, permissions: 0o644)
    } catch {
      throw CommandFailure.machineFailed(
        "\(url.path.printable) could not be written: free disk space and try again.")
    }
  }
}

/// The temporary folder with the data of all phones and servers.
struct SimulationFolder: Sendable {
  let url: URL

  private static let memory = "/dev/shm"

  /// Creates a folder in memory if the system has such a file system, because a disk would confirm every small write.
  init() throws {
    let parent =
      access(Self.memory, W_OK | X_OK) == 0
      ? URL(fileURLWithPath: Self.memory) : FileManager.default.temporaryDirectory
    url = parent.appendingPathComponent("firebreak-simulate-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure.machineFailed(
        "A folder cannot be created in \(parent.path): free space there and try again.")
    }
  }

  /// Removes the folder. After a signal, phones and servers may still write to it.
  @Sendable func remove() {
    FileManager.default.removeFolderInUse(url)
  }
}
