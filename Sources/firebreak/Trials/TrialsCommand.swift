import ArgumentParser
import FieldTrials
import Foundation

/// `firebreak trials`: which published configuration foretells best what phones told their owners.
struct TrialsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trials",
    abstract: "Rank published risk configurations by recorded field trials.",
    discussion: """
      Reads the phones' logs of trials in which one person was marked sick, turns what each phone \
      heard into exposure windows, scores it, and prints for each configuration the area under the \
      curve: the share of pairs in which a phone that raised a high alert scores above one that \
      raised none (1 perfect, 0.5 chance). The files are described in Documentation/FieldTrials.md.
      """)

  @Argument(help: "The folder that holds the trials, at any depth.")
  var folder: String

  @Flag(help: "Print one JSON object and nothing else.")
  var json = false

  @Flag(help: "Add each receiver's rssi_offset: for recordings of uncorrected signal strengths.")
  var addReceiverOffset = false

  func run() throws {
    let bar = ProgressLine(what: "trials")
    let trials = try read(bar)
    let ranking = try FieldTrialRanking(
      of: trials.trials, signal: addReceiverOffset ? .uncorrected : .corrected)
    bar.clear()
    if json {
      try printJSON(TrialsReport(trials.counts, ranking))
    } else {
      print(TrialsTable(counts: trials.counts, ranking: ranking).text)
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
