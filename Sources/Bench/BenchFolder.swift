// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal

/// The folder for the files of a workload: temporary, or chosen and kept.
package struct BenchFolder {
  package let url: URL
  private let isKept: Bool

  /// The file system in memory of Linux.
  private static let memory = URL(fileURLWithPath: "/dev/shm")

  /// Creates a temporary folder, or the folder at `keep` if it does not exist.
  ///
  /// - Parameter isInMemory: True for a temporary folder in memory, if this machine has a file system there.
  package init(keep: String?, isInMemory: Bool = false) throws {
    isKept = keep != nil
    let usesMemory = isInMemory && FileManager.default.isWritableFile(atPath: Self.memory.path)
    let temporary = usesMemory ? Self.memory : FileManager.default.temporaryDirectory
    url =
      keep.map { URL(fileURLWithPath: $0) }
      ?? temporary.appendingPathComponent("firebreak-bench-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure(
        status: isKept ? .badInput : .machineFailed,
        message:
          "The folder \(url.path.printable) cannot be created: check the path and its permissions."
      )
    }
  }

  /// The URL for a new file.
  ///
  /// - Throws: `CommandFailure` if a file with this name exists.
  func newFile(_ name: String) throws -> URL {
    let file = url.appendingPathComponent(name)
    guard !FileManager.default.fileExists(atPath: file.path) else {
      throw CommandFailure.badInput(
        "\(file.path.printable) already exists: choose another folder with --keep.")
    }
    return file
  }

  /// Removes the folder if it is temporary.
  @Sendable package func removeUnlessKept() {
    if !isKept { FileManager.default.removeFolderInUse(url) }
  }
}
