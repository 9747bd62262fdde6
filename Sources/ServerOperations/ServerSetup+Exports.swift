// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import Logging
import Settings
import Terminal

/// The key files of the key server, whether or not it runs.
extension ServerSetup {
  /// Closes every period that has ended, writes its files and removes old ones.
  ///
  /// - Returns: The files that were written.
  /// - Throws: `OperationFailure` if the server has no keys yet: an export creates none.
  package func exportNow() async throws -> [String] {
    guard try KeySecrets.stored(in: folder) != nil else {
      throw OperationFailure.badInput(
        "The key server of \(folder.url.path.printable) has no keys yet: start it first.")
    }
    let server = try keyServer(logger: Self.noLogger)
    do {
      let files = try await server.exportDue()
      try await server.removeOld()
      return files
    } catch {
      throw OperationFailure.machineFailed("\(error)")
    }
  }

  /// Writes every key file again, except withdrawn ones, which are removed.
  ///
  /// - Returns: The files that were written.
  func signExportsAgain() async throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder.keyDatabase.path) else { return [] }
    let server = try keyServer(logger: Self.noLogger)
    do {
      return try await server.signAgain()
    } catch {
      throw OperationFailure.machineFailed(
        "\(error) Run the command again to sign the other files.")
    }
  }

  /// The operations report by their result and their error.
  private static let noLogger = Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() }
}
