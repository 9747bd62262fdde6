// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Draws a timeline as SVG: a column for each phone and server, and a row for each step beside its time.
///
/// Rows instead of a scale of hours: a step stays at its time although others follow within minutes, and the picture
/// is readable on a phone.
struct TimelinePicture {
  private enum Size {
    static let timeWidth = 52.0
    static let laneWidth = 66.0
    static let top = 44.0
    static let rowHeight = 32.0
    static let arrowHeight = 15.0
    static let meetingHeight = 14.0
    static let dayHeight = 20.0
    static let badgeRadius = 11.0
  }

  /// A row and its place.
  private struct Place {
    let row: Timeline.Row
    /// The y of the badges.
    let y: Double
    let startsDay: Bool
    let startsTime: Bool
  }

  let timeline: Timeline

  var svg: String {
    let (places, height) = layout()
    let parts = lanes(height: height) + places.flatMap(draw)
    return """
      <svg viewBox="0 0 \(number(width)) \(number(height))" role="img" \
      aria-labelledby="timeline-title" xmlns="http://www.w3.org/2000/svg">
      <title id="timeline-title">Steps on the phones and servers, and their messages</title>
      <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" \
      markerHeight="7" orient="auto"><path class="tip" d="M0 0 L8 4 L0 8 z"/></marker></defs>
      \(parts.joined(separator: "\n"))
      </svg>
      """
  }

  private func layout() -> (places: [Place], height: Double) {
    var y = Size.top
    var places: [Place] = []
    for row in timeline.rows {
      let last = places.last?.row
      let day = DemoClock.dayNumber(row.time)
      let startsDay = last.map { DemoClock.dayNumber($0.time) != day } ?? true
      if startsDay { y += Size.dayHeight }
      places.append(
        Place(
          row: row, y: y + Size.rowHeight / 2, startsDay: startsDay,
          startsTime: startsDay || last?.time != row.time))
      y += Size.rowHeight + Double(row.messages.count) * Size.arrowHeight
      if row.meeting != nil { y += Size.meetingHeight }
    }
    return (places, y + 8)
  }

  private func lanes(height: Double) -> [String] {
    DemoLane.allCases.map { lane in
      """
      <line class="lane" x1="\(x(lane))" x2="\(x(lane))" y1="\(number(Size.top - 6))" \
      y2="\(number(height))"/>
      <text class="name" x="\(x(lane))" y="16">\(lane.name)</text>
      <text class="detail" x="\(x(lane))" y="30">\(lane.detail)</text>
      """
    }
  }

  private func draw(_ place: Place) -> [String] {
    let row = place.row
    let day = place.startsDay ? day(of: place) : []
    let time = """
      <text class="clock" x="0" y="\(number(place.y + 4))">\(DemoClock.timeOfDay(row.time))</text>
      """
    let meeting = row.meeting.map { [draw($0, at: place.y)] } ?? []
    let arrows = row.messages.enumerated().map { index, message in
      let y = place.y + Size.rowHeight / 2 + Double(index) * Size.arrowHeight
      return arrow(from: message.from, to: message.to, of: row, at: y)
    }
    return day + (place.startsTime ? [time] : []) + meeting + arrows
      + row.lanes.map { badge(row, on: $0, at: place.y) }
  }

  private func day(of place: Place) -> [String] {
    let y = place.y - Size.rowHeight / 2 - 2
    return [
      """
      <line class="midnight" x1="0" x2="\(number(width))" y1="\(number(y))" y2="\(number(y))"/>
      <text class="day" x="0" y="\(number(y - 5))">Day \(DemoClock.dayNumber(place.row.time))</text>
      """
    ]
  }

  private func draw(_ meeting: Timeline.Meeting, at y: Double) -> String {
    let left = position(meeting.lanes.lowerBound) - 17
    let right = position(meeting.lanes.upperBound) + 17
    return """
      <rect class="meeting" x="\(number(left))" y="\(number(y - 15))" \
      width="\(number(right - left))" height="30" rx="9"/>
      <text class="meeting-label" x="\(number((left + right) / 2))" y="\(number(y + 27))">\
      \(meeting.label)</text>
      """
  }

  private func arrow(
    from sender: DemoLane, to receiver: DemoLane, of row: Timeline.Row, at y: Double
  ) -> String {
    """
    <circle class="start" cx="\(x(sender))" cy="\(number(y))" r="2.5"/>
    <path class="arrow" marker-end="url(#arrow)" d="M \(x(sender)) \(number(y)) \
    H \(x(receiver))"><title>Step \(row.number): \(sender.title) to \
    \(receiver.title)</title></path>
    """
  }

  private func badge(_ row: Timeline.Row, on lane: DemoLane, at y: Double) -> String {
    """
    <g class="\(row.ok ? "passed" : "failed")"><circle cx="\(x(lane))" cy="\(number(y))" \
    r="\(number(Size.badgeRadius))"/><text x="\(x(lane))" y="\(number(y + 4))">\(row.number)</text></g>
    """
  }

  private var width: Double {
    Size.timeWidth + Double(DemoLane.allCases.count) * Size.laneWidth
  }

  private func position(_ lane: DemoLane) -> Double {
    Size.timeWidth + (Double(lane.rawValue) + 0.5) * Size.laneWidth
  }

  private func x(_ lane: DemoLane) -> String { number(position(lane)) }

  private func number(_ value: Double) -> String {
    String((value * 10).rounded() / 10)
  }
}

/// The steps of the demo for the picture.
public struct Timeline: Sendable {
  /// A step and the lanes that it concerns.
  struct Row: Sendable {
    let number: Int
    let time: Date
    let ok: Bool
    let lanes: [DemoLane]
    let messages: [(from: DemoLane, to: DemoLane)]
    var meeting: Meeting?
  }

  /// Neighbouring lanes that were together.
  struct Meeting: Sendable {
    let lanes: ClosedRange<DemoLane>
    let label: String
  }

  var rows: [Row] = []
}
