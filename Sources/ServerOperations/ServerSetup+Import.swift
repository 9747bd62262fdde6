// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import Settings
import Terminal

/// The key files of other servers, whether or not the key server runs.
extension ServerSetup {
  /// Adds the keys of another server's files to the key database.
  ///
  /// - Parameter progress: Called after each file.
  /// - Throws: `CommandFailure`; the files before the failing one are stored.
  package func importKeys(
    from places: [String], signer: TrustedSigner, rules: KeyImport.Rules,
    progress: @Sendable (KeyImportReport) -> Void
  ) async throws -> KeyImportReport {
    guard try KeySecrets.stored(in: folder) != nil else {
      throw CommandFailure.badInput(
        "The key server of \(folder.url.path.printable) has no keys yet: start it first.")
    }
    let exports = try keySettings().configuration.exports
    let report = try await Self.reportingFailures {
      try await reportingErrors {
        try await KeyImport(
          databaseFile: folder.keyDatabase, databaseAddress: try databaseAddress(of: .keys),
          signer: signer, rules: rules, clock: clock
        ).run(KeyFileSource(places), progress: progress)
      }
    }
    let published = exports.reduce(into: Set<String>()) { $0.formUnion($1.inputRegions) }
    let isForTravellers = rules.travels && exports.contains { $0.travellers == .fromAnywhere }
    for region in report.regions.subtracting(published).sorted() where !isForTravellers {
      warn(
        "No export includes the region \(region), so its keys are not published: add it to inputRegions of an export."
      )
    }
    return report
  }

  /// Copies another server's key files and index into `output`.
  package static func mirror(
    _ index: String, in output: URL, signer: TrustedSigner
  ) async throws -> KeyMirror.Report {
    try await reportingFailures {
      do {
        return try await KeyMirror(of: KeyFileSource([index]), in: output, signer: signer).run()
      } catch let error as KeyServerError {
        throw CommandFailure.machineFailed(error.description)
      }
    }
  }

  private static func reportingFailures<Result>(
    _ work: () async throws -> Result
  ) async throws -> Result {
    do { return try await work() } catch let failure as KeyImportFailure {
      let status: ExitStatus =
        switch failure {
        case .unsigned: .no
        case .invalid, .badSource: .badInput
        case .unavailable: .machineFailed
        }
      throw CommandFailure(status: status, message: failure.description.printable)
    }
  }
}
