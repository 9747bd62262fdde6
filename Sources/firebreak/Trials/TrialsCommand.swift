import ArgumentParser
import FieldTrials
import Foundation
import Terminal

/// `firebreak trials`: ranks published risk configurations by recorded field trials.
struct TrialsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trials",
    abstract: "Rank published risk configurations by recorded field trials.",
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

  func run() throws {
    let bar = ProgressLine("trials")
    let trials = try read(bar)
    let ranking = try FieldTrialRanking(
      of: trials.trials, signal: addReceiverOffset ? .uncorrected : .corrected)
    bar.clear()
    if json {
      try printJSON(TrialsReport(trials.counts, ranking))
    } else {
      try StandardOutput.write(TrialsTable(counts: trials.counts, ranking: ranking).text)
    }
  }

  private func read(_ bar: ProgressLine) throws -> FieldTrials {
    do throws(FieldTrialError) {
      return try FieldTrials(at: URL(fileURLWithPath: folder), progress: bar.show)
    } catch {
      bar.clear()
      throw CommandFailure.badInput(error.description)
    }
  }
}
