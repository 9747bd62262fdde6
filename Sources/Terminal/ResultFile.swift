// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// A file with results, named on the command line.
package struct ResultFile: Sendable {
  package let url: URL
  private let option: String

  /// Checks that the file at `path` can be written, before the work begins.
  ///
  /// - Throws: `CommandFailure` that names `option`.
  package init(_ path: String, option: String) throws {
    url = URL(fileURLWithPath: path)
    self.option = option
    let folder = url.deletingLastPathComponent().path
    guard access(folder, W_OK | X_OK) == 0, !FileManager.default.isFolder(at: url.path) else {
      throw CommandFailure.badInput(
        "\(path.printable) cannot be written: name a file in an existing folder with \(option).")
    }
    guard AtomicFile.isReplaceable(url) else {
      throw CommandFailure.badInput(
        "\(path.printable) is a device or a pipe: name a file with \(option).")
    }
  }

  /// The path without links to folders: two files with the same one replace each other.
  package var place: String { Self.place(of: url) }

  /// The path of a file without links to folders.
  package static func place(of url: URL) -> String {
    url.deletingLastPathComponent().resolvingSymlinksInPath()
      .appendingPathComponent(url.lastPathComponent).path
  }

  /// The places that a result must not have, because a file is read there. Each of `inputs` may be a link to the file.
  package static func places(ofInputs inputs: [String]) -> Set<String> {
    Set(
      inputs.map { URL(fileURLWithPath: $0) }
        .flatMap { [place(of: $0), $0.resolvingSymlinksInPath().path] })
  }

  /// Checks that the result does not replace a file that the command reads.
  ///
  /// - Parameters:
  ///   - inputs: The paths of the files that are read.
  ///   - isInput: True if the file is read for another reason.
  /// - Throws: `CommandFailure` that names `option`.
  package func keepInputs(_ inputs: [String], isInput: Bool = false) throws {
    guard !isInput, !Self.places(ofInputs: inputs).contains(place) else {
      throw CommandFailure.badInput(
        "\(url.path.printable) would be replaced: name another file with \(option).")
    }
  }

  package func write(_ text: String) throws {
    do throws(FileError) {
      try AtomicFile.write(text.utf8, to: url, permissions: 0o644)
    } catch {
      throw CommandFailure.machineFailed(
        "\(url.path.printable) could not be written (\(option)): free disk space and try again.")
    }
  }
}
