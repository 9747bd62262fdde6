import Foundation

/// The numbers and words about an outbreak, for the teacher's page and the sheet.
enum OutbreakTables {
  /// The numbers of people.
  static func summary(_ state: LessonState) -> HTML {
    let rules = OutbreakRules()
    let exposed = ClassText.exposedCount.text([
      "minutes": "\(rules.exposedMinutes)", "metres": "\(Int(rules.near.metres))",
    ])
    let rows: [(String, Int)] = [
      (ClassText.infectedCount.text(), state.phones.count { $0.health != .well }),
      (ClassText.illCount.text(), state.phones.count { $0.health == .ill }),
      (
        ClassText.diagnosedCount.text(), state.phones.count { $0.diagnosis.diagnosed != nil }
      ),
      (exposed, state.exposedCount),
      (ClassText.notifiedCount.text(), state.count(.notified)),
      (ClassText.missedCount.text(), state.missedCount),
      (ClassText.falseCount.text(), state.count(.notifiedWithoutExposure)),
    ]
    let items = rows.map { name, count -> HTML in
      "<div><dt>\(name)</dt><dd>\(count)</dd></div>"
    }
    return "<dl>\(items)</dl>"
  }

  /// The reasons why exposed people have no notice.
  static func missed(_ state: LessonState) -> HTML {
    guard !state.missedCounts.isEmpty else { return "<p>\(ClassText.noMissed)</p>" }
    let rows = state.missedCounts.map { row -> HTML in
      "<tr><td>\(reason(row.reason))</td><td class=\"number\">\(row.count)</td></tr>"
    }
    return """
      <table class="reasons"><thead><tr><th scope="col">\(ClassText.reason)</th>\
      <th scope="col" class="number">\(ClassText.people)</th></tr></thead><tbody>\(rows)</tbody></table>
      """
  }

  static func reason(_ reason: MissedReason) -> String {
    let text: ClassText =
      switch reason {
      case .phoneOff: .reasonPhoneOff
      case .notDiagnosed: .reasonNotDiagnosed
      case .pinNotEntered: .reasonPINNotEntered
      case .keyInUse: .reasonKeyInUse
      case .notPublished: .reasonNotPublished
      case .notChecked: .reasonNotChecked
      case .belowThreshold: .reasonBelowThreshold
      }
    return text.text()
  }

  static func health(_ health: Health) -> ClassText {
    switch health {
    case .well: .healthWell
    case .infected: .healthInfected
    case .infectious: .healthInfectious
    case .ill: .healthIll
    case .recovered: .healthRecovered
    }
  }

  static func outcome(_ outcome: ExposureOutcome) -> String {
    switch outcome {
    case .notExposed: ClassText.outcomeNotExposed.text()
    case .notified: ClassText.outcomeNotified.text()
    case .notifiedWithoutExposure: ClassText.outcomeFalse.text()
    case .missed(let reason): ClassText.outcomeMissed.text(["reason": self.reason(reason)])
    }
  }

  static func condition(_ phone: PhoneView) -> ClassText {
    if phone.isFree { return .stateFree }
    if !phone.isOn { return .stateOff }
    return phone.isConnected ? .stateOpen : .stateClosed
  }

  /// The last result of a test; empty without one.
  static func test(_ phone: PhoneView) -> HTML {
    if phone.diagnosis.shared != nil { return "\(ClassText.testedShared)" }
    return switch phone.test {
    case nil: .none
    case .negative: "\(ClassText.testedNegative)"
    case .positive: "\(ClassText.testedPositive)"
    }
  }
}
