import Foundation

extension StoredState {
  /// Takes what one run found.
  mutating func add(_ findings: Findings) {
    if findings.coversAllFiles {
      replaceDays(with: findings.exposures)
    } else {
      add(findings.exposures)
    }
  }

  /// Adds encounters. Two people met alike on one day are two encounters; the same files analysed
  /// again bring neither of them a second time.
  private mutating func add(_ found: [Exposure]) {
    var known = exposures
    for exposure in found {
      if let index = known.firstIndex(where: exposure.isSame) {
        known.remove(at: index)
      } else {
        exposures.append(exposure)
      }
    }
  }

  /// Puts `days` in the place of the days judged before: each detection of version 2 judges all of
  /// them anew. A day that was removed stays away unless there is more to it now. Documentation/App.md
  /// 4.6 and 6.2.
  private mutating func replaceDays(with days: [Exposure]) {
    let before = exposures.filter { $0.judgement != nil }
    let removed = Dictionary(
      (removedDays ?? []).map { ($0.date, $0.judgement?.normalizedMinutes ?? 0) },
      uniquingKeysWith: max)
    let kept = days.filter { day in
      removed[day.date].map { day.judgement?.normalizedMinutes ?? 0 > $0 } ?? true
    }
    exposures.removeAll { $0.judgement != nil }
    exposures += kept.map { day in day.identified(as: before.first { $0.date == day.date }?.id) }
  }

  /// Forgets the exposures, and remembers of judged days that they are not wanted again.
  mutating func removeExposures() {
    let judged = exposures.filter { $0.judgement != nil }
    let dates = Set(judged.map(\.date))
    let days = (removedDays ?? []).filter { !dates.contains($0.date) } + judged
    removedDays = days.isEmpty ? nil : days
    exposures = []
  }
}

extension Exposure {
  /// The same under the name that the app's lists know it by already.
  fileprivate func identified(as known: UUID?) -> Exposure {
    Exposure(
      id: known ?? id, date: date, durationSeconds: durationSeconds, riskScore: riskScore,
      judgement: judgement)
  }
}
