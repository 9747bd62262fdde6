// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Terminal

/// The argument of the commands that read a backup.
struct BackupArgument: ParsableArguments {
  @Argument(help: "A file that `backup` wrote.")
  var file: String

  var url: URL { URL(fileURLWithPath: file) }

  func refuseOtherThanFile() throws {
    let isFolder = FileManager.default.isFolder(at: file)
    guard !isFolder, FileManager.default.fileExists(atPath: file) else {
      throw CommandFailure.badInput(
        isFolder
          ? "\(file.printable) is a folder: name a file that `backup` wrote."
          : "There is no file \(file.printable): name a backup.")
    }
  }
}
