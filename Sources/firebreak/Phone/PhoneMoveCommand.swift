// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import PhoneProcess
import Terminal

/// `firebreak phone move FOLDER`: moves the phone to another folder or disk.
struct PhoneMoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move the phone to a new folder; the old one stops for good.",
    discussion: """
      The phone must not be running. For another machine, move it to a disk that you carry there, and take the sealing \
      key along separately. A copy made otherwise would be a second phone with the same keys. If the command is \
      interrupted, the same command again finishes it.
      """)

  private struct Report: Encodable {
    let from: String
    let to: String
  }

  @Argument(help: "The new folder; it must be missing or empty.")
  var folder: String

  @OptionGroup var options: PhoneOptions

  func run() async throws {
    let old = try PhoneFactory.reporting {
      try PhoneFolder(existing: options.data, mayBeMoved: true)
    }
    guard let lock = try PhoneFactory.reporting({ try old.lock(mayBeMoved: true) }) else {
      throw CommandFailure.badInput(
        "A phone is running on \(old.url.path.printable): stop it, then move it.")
    }
    try PhoneFactory.reporting { try PhoneMove(of: old, to: folder).run() }
    withExtendedLifetime(lock) {}
    let report = Report(from: old.url.path, to: URL(fileURLWithPath: folder).path)
    try options.json
      ? printJSON(report)
      : StandardOutput.write(
        "Moved the phone to \(report.to.printable). Start it with --data and that folder; the sealing key"
          + " is the same."
      )
  }
}
