// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureKeys
import Foundation
import KeyServer
import PostgreSQL
import Subprocess
import SystemPackage
import Terminal
import World

/// Creates the keys that `bench export` exports, in a process of its own. Hidden from the help.
struct BenchExportFillCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export-fill", abstract: "Create the keys for `bench export`.",
    shouldDisplay: false)

  @Argument var database: String
  /// True if the database is an address, false if it is a file.
  @Flag(name: .customLong("postgresql")) var isPostgreSQL = false
  @Option var keys: Int
  /// The start of the period, in Unix seconds.
  @Option var start = ExportBench.start.unixSecond

  /// Creates keys in another process, so that its memory and caches do not count.
  static func fill(
    _ database: String, isPostgreSQL: Bool = false, by program: FilePath = .currentExecutable,
    keyCount: Int, releasedFrom: Date
  ) async throws {
    let fill = try await Subprocess.run(
      .path(program),
      arguments: Arguments(
        [
          "bench", "export-fill", database, "--keys", "\(keyCount)", "--start",
          "\(releasedFrom.unixSecond)",
        ] + (isPostgreSQL ? ["--postgresql"] : [])), output: .discarded,
      error: .string(limit: BenchLimit.errorByteCountMax))
    guard fill.terminationStatus.isSuccess else {
      throw CommandFailure.ofProcess("The keys could not be created", errors: fill.standardError)
    }
  }

  func run() async throws {
    let start = Date(unixSecond: start)
    let address = isPostgreSQL ? try PostgreSQLAddress(database) : nil
    try await ExportWorkload.forEachPart(
      of: keys, releasedFrom: start, randomness: SystemRandomness()
    ) { keys in
      if let address {
        try await KeyServer.insert(
          keys, of: ExportBench.region, into: address, at: start, logger: .silent)
      } else {
        try KeyServer.insert(
          keys, of: ExportBench.region, into: URL(fileURLWithPath: database), at: start)
      }
    }
  }
}

/// Random keys that are released in one period, for the measurement of an export.
private enum ExportWorkload {
  private static let keysInOneCommit = 20_000

  /// Calls `body` with parts of `keyCount` keys of the last 14 days, which are released in the four hours from `start`
  /// and have all fields that an upload sets.
  static func forEachPart(
    of keyCount: Int, releasedFrom start: Date, randomness: any Randomness,
    _ body: ([(key: DiagnosisKey, releasedAt: Date)]) async throws -> Void
  ) async throws {
    for first in stride(from: 0, to: keyCount, by: keysInOneCommit) {
      let keys = (first..<min(first + keysInOneCommit, keyCount)).compactMap { number in
        key(number, before: start, randomness).map {
          (key: $0, releasedAt: start.addingTimeInterval(Double(number % 4) * 3_600))
        }
      }
      try await body(keys)
    }
  }

  private static func key(
    _ number: Int, before start: Date, _ randomness: any Randomness
  ) -> DiagnosisKey? {
    let day = UInt32(number % 14)
    return IntervalNumber(start).flatMap {
      TemporaryExposureKey(
        bytes: randomness.bytes(TemporaryExposureKey.byteCount),
        rollingStart: IntervalNumber(rawValue: $0.rawValue - (day + 1) * IntervalNumber.perDay))
    }.flatMap {
      DiagnosisKey(
        key: $0, transmissionRiskLevel: 8, reportType: .confirmedTest,
        daysSinceOnsetOfSymptoms: Int32(day) - 7)
    }
  }
}
