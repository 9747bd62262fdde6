import ArgumentParser
import Foundation
import KeyServer
import Logging

/// `key-server export --now`: what is due is written now.
struct ExportNowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Close every period that has ended and write its files.",
    discussion: "A server that runs does so by itself; both may, one after the other.")

  /// What was written.
  private struct Report: Encodable {
    let files: [String]
  }

  @Flag(help: "Do it now.")
  var now = false

  @OptionGroup var options: ServerOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard now else { throw ValidationError("Say --now: the server exports by itself else.") }
  }

  func run() async throws {
    let folder = try ServerFolder(existing: options.data, of: .keys)
    guard try KeyServerOwner.signingKeys(of: folder) != nil else {
      throw CommandFailure.badInput(
        "The key server of \(options.data.printable) has no keys yet: start it first.")
    }
    let server = try ServerSetup(folder: folder, options: options).keyServer(
      logger: Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() })
    let files: [String]
    do {
      files = try await server.exportDue()
      try await server.removeOld()
    } catch {
      throw CommandFailure(status: .machineFailed, sentence: "\(error)")
    }
    guard !json else { return try printJSON(Report(files: files)) }
    try StandardOutput.write(
      files.isEmpty ? "Nothing was due." : files.map { "Wrote \($0)" }.joined(separator: "\n"))
  }
}
