// SPDX-License-Identifier: Apache-2.0
import FieldTrials
import Foundation
import Terminal

/// The results as text.
struct TrialsTable {
  let results: TrialsResults

  private var counts: FieldTrialCounts { results.counts }
  private var ranking: FieldTrialRanking { results.ranking }

  var text: String {
    var all: [String] = [summary]
    if let skipped { all.append(skipped) }
    all += dropped
    all += ["", comparison, ""]
    all += configurations
    if let dependence { all.append(dependence) }
    if let sweep = results.sweep { all += lines(sweep) }
    if let learned = results.learned { all += lines(learned) }
    return all.joined(separator: "\n")
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

  private var dropped: [String] {
    TrialLoss.allCases.compactMap { loss in
      ranking.encounters.losses[loss].map { "Dropped: \($0) \(loss.text)." }
    }
  }

  private var comparison: String {
    let low = ranking.encounters.phones.count { $0.phone.outcome == .low }
    let power = ranking.options.iPhonePower
    return """
      \(ranking.positives) phones with a high alert, \(ranking.negatives) without alert; \
      \(low) with a low alert are not compared. \(counts.alertsCorrected) alerts of all phones are corrected.
      AUC: share of pairs in which a phone with a high alert has the higher score (1 perfect, 0.5 random), \
      with the interval of 95 % of \(ranking.bootstrap.sampleCount) samples of trials \
      (seed \(ranking.bootstrap.seed)).
      False and missed: phones without alert and with a high alert on the wrong side of the configuration's own \
      threshold.
      iPhones: the transmit power of the \(power.rawValue); the last columns are with that of the \
      \(power.other.rawValue), and with the alerts as labelled.
      """
  }

  private var configurations: [String] {
    let header =
      row(
        "configuration", "version", "AUC", "95 %", "from", "false", "missed",
        power: ranking.options.iPhonePower.other.rawValue, "labelled") + "source"
    let rows = ranking.ranks.map { rank -> String in
      let alert = rank.configuration.alert
      return row(
        rank.configuration.name, "\(rank.configuration.apiVersion)",
        Self.area(rank.areaUnderCurve), Self.text(rank.interval),
        alert.map { NumberText.number($0.score) + ($0.isAssumed ? "*" : "") } ?? "-",
        rank.errors.map { "\($0.falseAlerts)" } ?? "-",
        rank.errors.map { "\($0.missedAlerts)" } ?? "-",
        power: Self.area(rank.areaWithOtherPower), Self.area(rank.labelledArea))
        + rank.configuration.source
    }
    let isAssumed = ranking.ranks.contains { $0.configuration.alert?.isAssumed == true }
    return [header] + rows + (isAssumed ? ["* assumed: the file states no alertScore."] : [])
  }

  /// The largest effect of the transmit power of iPhones; nil without areas.
  private var dependence: String? {
    guard let largest = ranking.largestEffectOfIPhonePower else { return nil }
    return
      "With the transmit power of the \(ranking.options.iPhonePower.other.rawValue) for iPhones, areas change by at "
      + "most \(Self.area(largest.change)) (\(largest.configuration))."
  }

  private func lines(_ sweep: SweepResult) -> [String] {
    let rows = sweep.rows.prefix(SweepResult.intervalCount).map { row in
      Self.padded([
        (row.point.thresholdText, 13), (row.point.weightText, 21),
        (Self.area(row.area), 9), (Self.text(row.interval), 16),
      ])
    }
    return [
      "",
      "Sweep: \(sweep.rows.count) combinations, \(results.grid?.skipped ?? 0) skipped because their thresholds do not "
        + "ascend; the first \(rows.count).",
      "These phones chose the order, so the first areas are too high for other phones: --learn estimates them.",
      Self.padded([("dB", 13), ("%", 21), ("AUC", 9), ("95 %", 16)]),
    ] + rows
  }

  private func lines(_ learned: LearnedConfiguration) -> [String] {
    let rows = learned.folds.map { fold in
      Self.padded([
        (fold.trial, 20), ("\(fold.phoneCount)", 8),
        (fold.point.thresholdText, 13), (fold.point.weightText, 21),
        (NumberText.number(fold.threshold), 8),
      ])
    }
    return [
      "",
      "Fitted to all trials but one and applied to that one, by \(learned.pointCount) combinations: held-out AUC "
        + "\(Self.area(learned.heldOutArea)) (\(Self.text(learned.interval))), \(learned.errors.falseAlerts) false and "
        + "\(learned.errors.missedAlerts) missed alerts.",
      Self.padded([
        ("held out", 20), ("phones", 8), ("dB", 13), ("%", 21), ("from", 8),
      ]),
    ] + rows
  }
}

extension TrialsTable {
  private func row(
    _ name: String, _ version: String, _ area: String, _ interval: String, _ from: String,
    _ falseAlerts: String, _ missed: String, power: String, _ labelled: String
  ) -> String {
    let names = ranking.ranks.map(\.configuration.name.count)
    return Self.padded([
      (name, max(20, (names.max() ?? 0) + 2)), (version, 9), (area, 8), (interval, 18), (from, 8),
      (falseAlerts, 7), (missed, 8), (power, 8), (labelled, 10),
    ])
  }

  private static func padded(_ columns: [(text: String, width: Int)]) -> String {
    columns.map { column in
      column.text + String(repeating: " ", count: max(1, column.width - column.text.count))
    }.joined()
  }

  private static func area(_ area: Double?) -> String {
    area.map { String(format: "%.4f", $0) } ?? "-"
  }

  private static func text(_ interval: AreaInterval?) -> String {
    interval.map { "\(area($0.low))-\(area($0.high))" } ?? "-"
  }
}
