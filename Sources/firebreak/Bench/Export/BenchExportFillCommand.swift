import ArgumentParser
import Foundation
import KeyServer
import World

/// Makes the keys that `bench export` exports: no command for people.
struct BenchExportFillCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export-fill", abstract: "The keys that `bench export` exports.",
    shouldDisplay: false)

  @Argument var database: String
  @Option var keys: Int
  /// When the keys' period begins, in Unix seconds.
  @Option var start = Int64(ExportBench.start.timeIntervalSince1970)

  func run() throws {
    try ExportWorkload.fill(
      URL(fileURLWithPath: database), region: ExportBench.region, keyCount: keys,
      releasedFrom: Date(timeIntervalSince1970: Double(start)), randomness: SystemRandomness())
  }
}
