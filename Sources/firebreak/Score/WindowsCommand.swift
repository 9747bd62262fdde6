// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureKeys
import ExposureNotification
import Foundation
import Terminal
import World

/// `firebreak windows`: converts sightings of published keys to exposure windows.
struct WindowsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "windows",
    abstract: "Convert sightings of published keys to exposure windows.",
    discussion: """
      Prints a JSON list that score --windows reads, by the rules of a phone: plausibility, replays, scans and \
      windows of at most 30 minutes. The sightings and the key files are those of match. Without \
      infectiousnessForDaysSinceOnsetOfSymptoms in the configuration, every key counts as highly infectious. \
      Exit code 1: a file does not have the required signature.
      """)

  @OptionGroup var input: MatchInput

  @Option(
    name: .customLong("configuration"),
    help: "The exposure configuration, in JSON, for infectiousness and missing report types.")
  var configurationFile: String?

  func run() throws {
    let rules = try rules()
    let trust = try input.trust()
    let sightings = ScannedSighting.inOrder(
      try SightingsCSV(at: input.sightings).sightings.map(\.sighting))
    let secret = ProbeSecret(from: SystemRandomness())
    let matcher = Matcher(ContactIndex(sightings, secret: secret))
    var search = KeySearch(matcher)
    var ledger = MatchLedger()
    for file in input.files {
      _ = try search.run(into: &ledger) { each in
        try trust.read(file, batchSize: matcher.keysPerBatch, each: each)
      }
    }
    trust.noteIfNotVerified()
    let windows = ledger.matches.flatMap(rules.windows).map { WindowReport($0) }
    let list = try WindowReport.list(of: windows)
    try StandardOutput.write(String(list.dropLast()))
  }

  private func rules() throws -> WindowRules {
    let configuration = try configurationFile.map(ConfigurationJSON.read) ?? .init()
    if configuration.infectiousnessForDaysSinceOnsetOfSymptoms == nil {
      let days = Array(WindowRules.days) + [ENDaysSinceOnsetOfSymptomsUnknown]
      configuration.infectiousnessForDaysSinceOnsetOfSymptoms = Dictionary(
        uniqueKeysWithValues: days.map {
          (NSNumber(value: $0), NSNumber(value: ENInfectiousness.high.rawValue))
        })
    }
    do throws(ENError) {
      return try WindowRules(configuration)
    } catch {
      throw CommandFailure.badInput(
        "\((configurationFile ?? "").printable): \(error.localizedDescription)")
    }
  }
}
