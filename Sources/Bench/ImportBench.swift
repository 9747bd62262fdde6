// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import Terminal
import World

/// A measurement of `key-server import`: one signed file with new keys, from the zip to the committed rows in SQLite.
package struct ImportBench {
  package static let keyCounts = 1...MatchWorkload.keysPerFile

  /// The time of an import.
  package struct Figures: Sendable {
    package let seconds: Double
    /// The processor time of all threads of this process.
    package let processorSeconds: Double
  }

  /// Imports a file with `keyCount` keys into a new database in a temporary folder.
  ///
  /// - Throws: `CommandFailure` if not all keys were inserted.
  package static func run(keyCount: Int) async throws -> Figures {
    let folder = try BenchFolder(keep: nil)
    let cleanUp = CleanUp(folder.removeUnlessKept)
    defer { cleanUp.run() }
    var files = try WorkloadFiles(in: folder)
    try files.writeKeys(
      of: MatchWorkload(keys: keyCount, sightings: 1, seed: 1), unzipped: false
    ) { _ in }
    let importing = try KeyImport(
      databaseFile: folder.url.appendingPathComponent("keys.sqlite"),
      signer: TrustedSigner(publicKeyPEM: files.publicKeyPEM), rules: KeyImport.Rules(),
      clock: FixedClock(now: MatchWorkload.end))
    let source = try KeyFileSource(files.keyFiles.map(\.path))
    let (start, processorStart) = (ContinuousClock.now, CPUClock.currentProcess.now)
    let report = try await importing.run(source)
    let duration = ContinuousClock.now - start
    let processor = (CPUClock.currentProcess.now ?? .zero) - (processorStart ?? .zero)
    guard report.inserted == keyCount else {
      throw CommandFailure(
        status: .no, message: "\(report.inserted) of \(keyCount) keys were imported.")
    }
    return Figures(
      seconds: (duration / .seconds(1)).rounded(to: 3),
      processorSeconds: (processor / .seconds(1)).rounded(to: 3))
  }
}

extension MatchWorkload {
  /// The end of the last day.
  fileprivate static var end: Date {
    Date(unixSecond: Int64(firstSecond) + Int64(days * secondsPerDay))
  }
}
