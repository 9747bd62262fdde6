// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReportFormats

/// The ROC curve and the calibration of one configuration, in HTML.
struct ConfigurationCard {
  private static let size = 200.0
  private let rank: ConfigurationRank

  init(_ rank: ConfigurationRank) {
    self.rank = rank
  }

  var html: String {
    let curve = ROCCurve(rank.phones)
    let name = HTMLText.escaped(rank.configuration.name)
    return """
      <article>
      <h3>\(name)</h3>
      <p>AUC \(NumberText.share(rank.areaUnderCurve))</p>
      \(curve.points.isEmpty ? "<p>One of the groups is empty.</p>" : svg(curve, name))
      \(calibration)
      </article>
      """
  }

  private func svg(_ curve: ROCCurve, _ name: String) -> String {
    let line = curve.points.map { place($0.falseShare, $0.trueShare) }.joined(separator: " ")
    return """
      <svg viewBox="-8 -8 216 216" role="img" aria-label="ROC curve of \(name)">\
      <rect class="frame" width="200" height="200"/>\
      <line class="chance" x1="0" y1="200" x2="200" y2="0"/>\
      <polyline class="curve" points="\(line)"/>\(ownThreshold)</svg>
      """
  }

  /// The point of the configuration's own threshold.
  private var ownThreshold: String {
    guard let errors = rank.errors else { return "" }
    let positives = Double(rank.phones.count(where: \.isPositive))
    let negatives = Double(rank.phones.count) - positives
    let center = place(
      Double(errors.falseAlerts) / negatives, 1 - Double(errors.missedAlerts) / positives
    ).split(separator: ",")
    return "<circle class=\"own\" cx=\"\(center[0])\" cy=\"\(center[1])\" r=\"6\"/>"
  }

  private func place(_ falseShare: Double, _ trueShare: Double) -> String {
    String(format: "%.1f,%.1f", falseShare * Self.size, (1 - trueShare) * Self.size)
  }

  private var calibration: String {
    let rows = Calibration(rank.phones).groups.map { group in
      let range =
        group.lowest == group.highest
        ? NumberText.number(group.lowest)
        : "\(NumberText.number(group.lowest)) to \(NumberText.number(group.highest))"
      let percent = Int((group.share * 100).rounded())
      return """
        <tr><th scope="row">\(range)</th>\
        <td class="bar"><span style="width:\(percent)%"></span></td>\
        <td>\(group.positives)/\(group.count)</td></tr>
        """
    }
    return """
      <table class="calibration"><thead><tr><th scope="col">Score</th><th scope="col">High alerts</th>\
      <th scope="col"></th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      """
  }
}
