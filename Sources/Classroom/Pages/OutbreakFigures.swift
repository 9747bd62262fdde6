// SPDX-License-Identifier: Apache-2.0
import Foundation
import Simulation

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
      (ClassText.falseCount.with(), state.phones.count(where: \.outcome.isFalseNotice)),
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

  private static func reason(_ reason: FalseNoticeReason) -> ClassText {
    switch reason {
    case .beforeInfectious: .reasonBeforeInfectious
    case .overestimated: .reasonOverestimated
    }
  }

  static func outcome(_ outcome: ExposureOutcome) -> ClassPhrase {
    switch outcome {
    case .notExposed: ClassText.outcomeNotExposed.with()
    case .notified: ClassText.outcomeNotified.with()
    case .notifiedWithoutExposure(let reason):
      ClassText.outcomeFalse.with(["reason": self.reason(reason).with()])
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

/// Pictures of the outbreak as SVG. The style sheet colours them; shapes and line patterns carry the same information.
enum OutbreakPictures {
  // MARK: Map

  /// The people at their places.
  static func map(_ state: LessonState) -> HTML {
    let people = state.phones.compactMap { phone in phone.position.map { (phone, $0) } }
    let absent = state.phones.count - people.count
    let side = max(40, (people.map { max($0.1.x, $0.1.y) }.max() ?? 0) + 40)
    let cells = Set(
      people.map { Cell(x: Int($0.1.x.rounded(to: 80)), y: Int($0.1.y.rounded(to: 80))) })
    let places = cells.sorted { ($0.y, $0.x) < ($1.y, $1.x) }.map { cell -> HTML in
      """
      <rect class="place" x="\(Double(cell.x) - 26)" y="\(Double(cell.y) - 26)" \
      width="52" height="52" rx="6"/>
      """
    }
    let marks = people.map { phone, position -> HTML in mark(phone, at: spread(position)) }
    return """
      <figure><svg class="map" role="img" aria-label="\(ClassText.mapPicture)" \
      viewBox="-40 -40 \(side + 40) \(side + 40)">\(places)\(marks)</svg>
      <figcaption>\(.mapText, ["count": ClassPhrase(absent)])<ul class="legend">
      <li>\(ClassText.legendWell)</li><li>\(ClassText.legendInfected)</li>
      <li>\(ClassText.legendIll)</li><li>\(ClassText.legendNotified)</li></ul></figcaption></figure>
      """
  }

  private struct Cell: Hashable {
    let x: Int
    let y: Int
  }

  /// The position, scaled away from the centre of its place so that people are distinguishable.
  private static func spread(_ position: Position) -> Position {
    func coordinate(_ value: Double) -> Double {
      let centre = value.rounded(to: 80)
      return centre + (value - centre) * 5
    }
    return Position(x: coordinate(position.x), y: coordinate(position.y))
  }

  private static func mark(_ phone: PhoneView, at position: Position) -> HTML {
    let (x, y) = (position.x, position.y)
    let shape: HTML =
      switch phone.health {
      case .well, .recovered: "<circle class=\"well\" cx=\"\(x)\" cy=\"\(y)\" r=\"4\"/>"
      case .infected, .infectious:
        "<path class=\"infected\" d=\"M\(x) \(y - 6)l5.5 10h-11z\"/>"
      case .ill:
        "<rect class=\"ill\" x=\"\(x - 4.5)\" y=\"\(y - 4.5)\" width=\"9\" height=\"9\"/>"
      }
    let ring: HTML =
      phone.noticeLevel == nil
      ? .none : "<circle class=\"notified\" cx=\"\(x)\" cy=\"\(y)\" r=\"8\"/>"
    return "\(ring)\(shape)"
  }

  // MARK: Curve

  private static let (width, height, left, bottom) = (600.0, 200.0, 34.0, 24.0)

  /// The numbers of infected, diagnosed and notified people over time.
  static func curve(_ state: LessonState) -> HTML {
    let last = state.curve.last ?? LessonState.Sample(time: state.now)
    let values = [
      "infected": ClassPhrase(last.infected), "diagnosed": ClassPhrase(last.diagnosed),
      "notified": ClassPhrase(last.notified),
    ]
    return """
      <figure><svg class="curve" role="img" aria-label="\(.curvePicture, values)" \
      viewBox="0 0 \(width + left + 10) \(height + bottom + 10)">\(axes(state))\
      \(line(\.infected, "infected", state))\(line(\.diagnosed, "diagnosed", state))\
      \(line(\.notified, "notified", state))</svg>
      <figcaption>\(ClassText.curveText)
      <ul class="legend"><li><span class="key infected"></span>\(ClassText.curveInfected)</li>
      <li><span class="key diagnosed"></span>\(ClassText.curveDiagnosed)</li>
      <li><span class="key notified"></span>\(ClassText.curveNotified)</li></ul></figcaption></figure>
      """
  }

  private static func hours(_ state: LessonState) -> Double {
    max(24, state.now.timeIntervalSince(state.start) / 3_600)
  }

  private static func axes(_ state: LessonState) -> HTML {
    let days = Int(hours(state) / 24)
    let step = max(1, days / 8)
    let ticks = stride(from: 0, through: days, by: step).map { day -> HTML in
      let x = left + Double(day) * 24 / hours(state) * width
      return """
        <path class="grid" d="M\(x) 5v\(height)"/>\
        <text x="\(x)" y="\(height + bottom - 2)" text-anchor="middle">\(day + 1)</text>
        """
    }
    let top = max(1, state.phones.count)
    return """
      <path class="grid" d="M\(left) \(height + 5)h\(width)"/>\(ticks)\
      <text x="\(left - 5)" y="14" text-anchor="end">\(top)</text>\
      <text x="\(left - 5)" y="\(height + 5)" text-anchor="end">0</text>
      """
  }

  private static func line(
    _ value: KeyPath<LessonState.Sample, Int>, _ name: String, _ state: LessonState
  ) -> HTML {
    let top = Double(max(1, state.phones.count))
    let points = state.curve.map { sample -> HTML in
      let x = left + sample.time.timeIntervalSince(state.start) / 3_600 / hours(state) * width
      let y = 5 + height - Double(sample[keyPath: value]) / top * height
      return "\(x),\(y)"
    }
    return "<polyline class=\"line \(name)\" points=\"\(points)\"/>"
  }
}

extension Double {
  fileprivate func rounded(to step: Double) -> Double { (self / step).rounded() * step }
}
