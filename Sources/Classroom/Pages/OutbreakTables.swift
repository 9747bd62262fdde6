import Foundation

/// The numbers and words about an outbreak, for the teacher's page and the sheet.
enum OutbreakTables {
  /// The numbers of people.
  static func summary(_ state: LessonState) -> HTML {
    let rules = OutbreakRules()
    let exposed = ClassText.exposedCount.with([
      "minutes": ClassPhrase(rules.exposedMinutes), "metres": ClassPhrase(Int(rules.near.metres)),
    ])
    let rows: [(ClassPhrase, Int)] = [
      (ClassText.infectedCount.with(), state.phones.count { $0.health != .well }),
      (ClassText.illCount.with(), state.phones.count { $0.health == .ill }),
      (
        ClassText.diagnosedCount.with(), state.phones.count { $0.diagnosis.diagnosed != nil }
      ),
      (exposed, state.exposedCount),
      (ClassText.notifiedCount.with(), state.count(.notified)),
      (ClassText.missedCount.with(), state.missedCount),
      (ClassText.falseCount.with(), state.count(.notifiedWithoutExposure)),
    ]
    let items = rows.map { name, count -> HTML in
      "<div><dt>\(name)</dt><dd>\(count)</dd></div>"
    }
    return "<dl>\(items)</dl>"
  }

  /// The reasons why exposed people have no notice.
  static func missed(_ state: LessonState) -> HTML {
    guard !state.missed.isEmpty else { return "<p>\(ClassText.noMissed)</p>" }
    let rows = state.missed.map { row -> HTML in
      """
      <tr><th scope="row">\(reason(row.reason))</th><td class="number">\(row.phones.count)</td>\
      <td>\(row.phones.map(String.init).joined(separator: ", "))</td></tr>
      """
    }
    return """
      <table class="reasons"><thead><tr><th scope="col">\(ClassText.reason)</th>\
      <th scope="col" class="number">\(ClassText.people)</th>\
      <th scope="col">\(ClassText.phonesHeading)</th></tr></thead><tbody>\(rows)</tbody></table>
      """
  }

  static func reason(_ reason: MissedReason) -> ClassPhrase {
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
    return text.with()
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

  static func outcome(_ outcome: ExposureOutcome) -> ClassPhrase {
    switch outcome {
    case .notExposed: ClassText.outcomeNotExposed.with()
    case .notified: ClassText.outcomeNotified.with()
    case .notifiedWithoutExposure: ClassText.outcomeFalse.with()
    case .missed(let reason): ClassText.outcomeMissed.with(["reason": self.reason(reason)])
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
