// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureNotification
import FieldTrials
import Foundation
import Terminal

/// `firebreak trials`: ranks risk configurations by recorded field trials.
struct TrialsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trials",
    abstract: "Rank risk configurations by recorded field trials.",
    discussion: """
      Reads the logs of phones in trials with one infected participant, converts the received beacons to \
      exposure windows, scores them, and prints the area under the curve for each configuration: the share \
      of pairs in which a phone with a high alert has a higher score than one without alert (1 is perfect, \
      0.5 is random). Documentation/FieldTrials.md describes the files.
      """)

  @Argument(help: "The folder with the trials, at any depth.")
  var folder: String

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(
    help: "Add the rssi_offset of each receiver, for recordings with uncorrected signal strengths.")
  var addReceiverOffset = false

  @Option(
    name: .customLong("iphone-power"),
    help: "The transmit power of iPhones: that of the setup of a trial, or that of the log.")
  var iPhonePower = IPhonePower.setup

  @Option(
    name: .customLong("configuration"),
    help: "A configuration in JSON, besides the published ones; may be repeated.")
  var configurationFiles: [String] = []

  @Option(help: "The seed of the samples of trials for the confidence intervals.")
  var seed: UInt64 = 1

  @Option(help: "The number of samples, 100 to 100000.")
  var samples = 2_000

  @Option(help: "Ranges of thresholds and weights in JSON; all combinations are scored.")
  var sweep: String?

  @Flag(
    help: """
      Fit thresholds and weights, those of --sweep if given, to all trials but one, and print the result for \
      the held-out trials only.
      """)
  var learn = false

  @Option(help: "Write a CSV file with one line for each phone.")
  var perPhone: String?

  @Option(help: "Write the exposure windows of all phones in JSON, as firebreak score reads them.")
  var windows: String?

  @Option(help: "Write an HTML report.")
  var report: String?

  func validate() throws {
    guard TrialBootstrap.sampleCounts.contains(samples) else {
      throw ValidationError(
        "--samples needs a number from \(TrialBootstrap.sampleCounts.lowerBound) to "
          + "\(TrialBootstrap.sampleCounts.upperBound).")
    }
  }

  func run() throws {
    let files = try TrialsFiles(
      perPhone: perPhone, windows: windows, report: report,
      inputs: configurationFiles + [sweep].compactMap(\.self))
    let configurations = try TrialConfigurationFile.all(configurationFiles)
    let grid = try sweep.map(SweepFile.read)
    let bar = ProgressLine("trials")
    let trials = try read(bar)
    let results = try TrialsResults(
      trials,
      ranking: FieldTrialRanking(
        of: trials.trials, by: configurations,
        options: TrialOptions(
          signal: addReceiverOffset ? .uncorrected : .corrected, iPhonePower: iPhonePower),
        bootstrap: TrialBootstrap(
          trialCount: trials.trials.count, seed: seed, sampleCount: samples)),
      grid: grid, isLearning: learn)
    bar.clear()
    try files.write(trials, results)
    if json {
      try printJSON(TrialsReport(results))
    } else {
      try StandardOutput.write(TrialsTable(results: results).text)
    }
  }

  private func read(_ bar: ProgressLine) throws -> FieldTrials {
    do throws(FieldTrialError) {
      return try FieldTrials(at: URL(fileURLWithPath: folder), progress: bar.show)
    } catch {
      bar.clear()
      throw CommandFailure.badInput(error.description.printable)
    }
  }
}

extension IPhonePower: ExpressibleByArgument {}

/// All results of one run.
struct TrialsResults {
  let counts: FieldTrialCounts
  let ranking: FieldTrialRanking
  /// The grid of `--sweep`.
  let grid: ConfigurationSweep?
  /// Nil without `--sweep`, and with `--learn`, which computes no figure for phones that were fitted.
  let sweep: SweepResult?
  /// Nil without `--learn`.
  let learned: LearnedConfiguration?

  init(
    _ trials: FieldTrials, ranking: FieldTrialRanking, grid: ConfigurationSweep?, isLearning: Bool
  ) throws {
    counts = trials.counts
    self.ranking = ranking
    self.grid = grid
    if isLearning {
      sweep = nil
      learned = try Self.learned(try grid ?? ConfigurationSweep.standard(), ranking)
    } else {
      sweep = try grid.map { try SweepResult($0, of: ranking.encounters, ranking.bootstrap) }
      learned = nil
    }
  }

  private static func learned(
    _ grid: ConfigurationSweep, _ ranking: FieldTrialRanking
  ) throws -> LearnedConfiguration {
    guard let learned = try LearnedConfiguration(grid, of: ranking.encounters, ranking.bootstrap)
    else {
      throw CommandFailure.badInput(
        "--learn needs phones with a high alert and phones without alert in at least two trials each: "
          + "name a folder with more trials.")
    }
    return learned
  }
}
