// SPDX-License-Identifier: Apache-2.0
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
      throw CommandFailure.badInput(error.description.printable)
    }
  }
}

/// The result of `firebreak trials`, as `--json` prints it.
struct TrialsReport: Encodable {
  private struct Configuration: Encodable {
    let name: String
    let source: String
    let apiVersion: Int
    let auc: Double?
    let positives: Int
    let negatives: Int

    /// An undefined area is null, not absent.
    func encode(to encoder: any Encoder) throws {
      var object = encoder.container(keyedBy: CodingKeys.self)
      try object.encode(name, forKey: .name)
      try object.encode(source, forKey: .source)
      try object.encode(apiVersion, forKey: .apiVersion)
      try object.encode(auc, forKey: .auc)
      try object.encode(positives, forKey: .positives)
      try object.encode(negatives, forKey: .negatives)
    }

    private enum CodingKeys: CodingKey {
      case name, source, apiVersion, auc, positives, negatives
    }
  }

  private let trials: Int
  private let phones: Int
  private let phonesByOutcome: [String: Int]
  private let phonesCompared: Int
  private let advertisements: Int
  private let identifiersSeen: Int
  private let sightings: Int
  private let samples: Int
  private let samplesImplausible: Int
  private let linesSkipped: Int
  private let filesUnreadable: Int
  private let filesIgnored: Int
  private let configurations: [Configuration]

  init(_ counts: FieldTrialCounts, _ ranking: FieldTrialRanking) {
    trials = counts.trials
    phones = counts.phones
    phonesByOutcome = Dictionary(
      uniqueKeysWithValues: TrialOutcome.allCases.map {
        ($0.rawValue, counts.phonesByOutcome[$0, default: 0])
      })
    phonesCompared = counts.phonesCompared
    advertisements = counts.advertisements
    identifiersSeen = counts.identifiersSeen
    sightings = counts.sightings
    samples = counts.samples
    samplesImplausible = counts.samplesImplausible
    linesSkipped = counts.linesSkipped
    filesUnreadable = counts.filesUnreadable
    filesIgnored = counts.filesIgnored
    configurations = ranking.ranks.map {
      Configuration(
        name: $0.configuration.name, source: $0.configuration.source,
        apiVersion: $0.configuration.apiVersion, auc: $0.areaUnderCurve,
        positives: ranking.positives, negatives: ranking.negatives)
    }
  }
}

/// The ranking as a table.
struct TrialsTable {
  let counts: FieldTrialCounts
  let ranking: FieldTrialRanking

  var text: String {
    ([summary, skipped, "", comparison, "", row("configuration", "version", "AUC") + "   source"]
      .compactMap(\.self)
      + ranking.ranks.map(row)).joined(separator: "\n")
  }

  private var summary: String {
    "\(counts.trials) trials, \(counts.phones) phones, \(counts.sightings) sightings with "
      + "\(counts.samples) samples; \(counts.phonesCompared) Android phones of participants "
      + "other than the infected one received beacons."
  }

  /// Nil if everything was read.
  private var skipped: String? {
    let all = counts.linesSkipped + counts.samplesImplausible + counts.filesUnreadable
    guard all > 0 else { return nil }
    return
      "Skipped: invalid lines: \(counts.linesSkipped); implausible samples: "
      + "\(counts.samplesImplausible); files missing, too large or damaged: "
      + "\(counts.filesUnreadable)."
  }

  private var comparison: String {
    let others = counts.phonesCompared - ranking.positives - ranking.negatives
    return """
      \(ranking.positives) phones with a high alert, \(ranking.negatives) without alert; \
      \(others) with a low alert are not compared.
      AUC: share of pairs in which a phone with a high alert has the higher score (1 perfect, 0.5 random).
      """
  }

  private func row(_ rank: ConfigurationRank) -> String {
    let area = rank.areaUnderCurve.map { String(format: "%.4f", $0) } ?? "-"
    return row(rank.configuration.name, "\(rank.configuration.apiVersion)", area)
      + "   \(rank.configuration.source)"
  }

  private func row(_ name: String, _ version: String, _ area: String) -> String {
    let columns = [(name, 20), (version, 9), (area, 6)]
    return columns.map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined()
  }
}
