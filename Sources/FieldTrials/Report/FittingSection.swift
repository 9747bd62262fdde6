// SPDX-License-Identifier: Apache-2.0
import ReportFormats

/// The results of a sweep and of a fit, in HTML.
struct FittingSection {
  /// Nil if nothing was swept.
  let sweep: SweepResult?
  /// Nil if nothing was fitted.
  let learned: LearnedConfiguration?

  /// Empty without results.
  var html: String { (sweep.map(section) ?? "") + (learned.map(section) ?? "") }

  private func section(_ sweep: SweepResult) -> String {
    let rows = sweep.rows.prefix(SweepResult.intervalCount).map { row in
      """
      <tr>\(Self.cells(row.point))<td>\(NumberText.share(row.area))\
      <small>\(NumberText.interval(row.interval))</small></td></tr>
      """
    }
    return """
      <section>
      <h2>Sweep</h2>
      <p>The first \(rows.count) of \(sweep.rows.count) combinations. These phones chose the order, so the first areas \
      are too high for other phones.</p>
      <table class="values"><thead><tr><th scope="col">dB</th><th scope="col">%</th>\
      <th scope="col">AUC</th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      </section>
      """
  }

  private func section(_ learned: LearnedConfiguration) -> String {
    let rows = learned.folds.map { fold in
      """
      <tr><th scope="row">\(HTMLText.escaped(fold.trial))</th>\(Self.cells(fold.point))\
      <td>\(NumberText.number(fold.threshold))</td></tr>
      """
    }
    return """
      <section>
      <h2>Fitted configuration</h2>
      <p>Fitted to all trials but one and applied to that one, by \(learned.pointCount) combinations: held-out AUC \
      \(NumberText.share(learned.heldOutArea)) (\(NumberText.interval(learned.interval))), \
      \(learned.errors.falseAlerts) false and \(learned.errors.missedAlerts) missed alerts.</p>
      <table class="values"><thead><tr><th scope="col">Held out</th><th scope="col">dB</th><th scope="col">%</th>\
      <th scope="col">From s</th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      </section>
      """
  }

  private static func cells(_ point: SweepPoint) -> String {
    "<td>\(point.thresholdText)</td><td>\(point.weightText)</td>"
  }
}
