import Foundation

/// Draws a timeline as SVG: a lane for each phone and server, time from left to right.
struct TimelinePicture {
  private enum Size {
    static let width = 1000.0
    static let labelWidth = 150.0
    static let laneHeight = 64.0
    static let top = 34.0
    static let bottom = 14.0
    static let badgeRadius = 11.0
  }

  let timeline: Timeline

  var svg: String {
    let height = Size.top + Double(timeline.lanes.count) * Size.laneHeight + Size.bottom
    let parts = hours() + lanes() + meetings() + passages() + marks()
    return """
      <svg viewBox="0 0 \(number(Size.width)) \(number(height))" role="img" \
      aria-labelledby="timeline-title" xmlns="http://www.w3.org/2000/svg">
      <title id="timeline-title">Events on the phones and servers over time</title>
      \(parts.joined(separator: "\n"))
      </svg>
      """
  }

  private func hours() -> [String] {
    stride(
      from: timeline.start.timeIntervalSince1970, through: timeline.end.timeIntervalSince1970,
      by: 6 * 3600
    ).map { seconds in
      let date = Date(timeIntervalSince1970: seconds)
      let isMidnight = Int(seconds) % 86400 == 0
      return """
        <line class="\(isMidnight ? "midnight" : "hour")" x1="\(x(date))" x2="\(x(date))" \
        y1="\(number(Size.top - 6))" y2="\(number(laneY(timeline.lanes.count - 1) + 28))"/>
        <text class="clock" x="\(x(date))" y="16">\(DemoClock.label(date))</text>
        """
    }
  }

  private func lanes() -> [String] {
    timeline.lanes.enumerated().map { index, lane in
      let y = laneY(index)
      return """
        <line class="lane" x1="\(number(Size.labelWidth))" x2="\(number(Size.width - 8))" \
        y1="\(number(y))" y2="\(number(y))"/>
        <text class="name" x="0" y="\(number(y - 2))">\(lane.name)</text>
        <text class="detail" x="0" y="\(number(y + 14))">\(lane.detail)</text>
        """
    }
  }

  private func meetings() -> [String] {
    timeline.meetings.map { meeting in
      let top = laneY(meeting.lanes.lowerBound) - 16
      let bottom = laneY(meeting.lanes.upperBound) + 16
      let width = max(position(meeting.to) - position(meeting.from), 14)
      return """
        <rect class="meeting" x="\(x(meeting.from))" y="\(number(top))" width="\(number(width))" \
        height="\(number(bottom - top))" rx="7"/>
        <text class="meeting-label" x="\(number(position(meeting.from) - 6))" \
        y="\(number((top + bottom) / 2 + 4))">\(meeting.label)</text>
        """
    }
  }

  private func passages() -> [String] {
    timeline.passages.map { passage in
      let fromY = laneY(passage.from)
      let toY = laneY(passage.to)
      let direction = toY > fromY ? 1.0 : -1.0
      let tip = toY - direction * (Size.badgeRadius + 2)
      return """
        <path class="passage" marker-end="url(#arrow)" d="M \(x(passage.time)) \
        \(number(fromY + direction * Size.badgeRadius)) V \(number(tip))">\
        <title>\(passage.label)</title></path>
        """
    } + [
      """
      <defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" \
      markerHeight="7" orient="auto"><path class="tip" d="M0 0 L8 4 L0 8 z"/></marker></defs>
      """
    ]
  }

  /// Places steps at the same time next to each other, in order.
  private func marks() -> [String] {
    var nextFree: [Int: Double] = [:]
    return timeline.marks.map { mark in
      let y = laneY(mark.lane)
      let x = max(position(mark.time), nextFree[mark.lane] ?? 0)
      nextFree[mark.lane] = x + 2 * Size.badgeRadius + 2
      return """
        <g class="\(mark.ok ? "passed" : "failed")"><circle cx="\(number(x))" cy="\(number(y))" \
        r="\(number(Size.badgeRadius))"/><text x="\(number(x))" y="\(number(y + 4))">\
        \(mark.number)</text></g>
        """
    }
  }

  private func position(_ date: Date) -> Double {
    let whole = timeline.end.timeIntervalSince(timeline.start)
    let part = date.timeIntervalSince(timeline.start) / whole
    return Size.labelWidth + part * (Size.width - Size.labelWidth - 30) + 12
  }

  private func x(_ date: Date) -> String { number(position(date)) }

  private func laneY(_ index: Int) -> Double {
    Size.top + (Double(index) + 0.5) * Size.laneHeight
  }

  private func number(_ value: Double) -> String {
    String((value * 10).rounded() / 10)
  }
}

/// The events of the demo for the picture.
public struct Timeline: Sendable {
  /// A phone or a server.
  public struct Lane: Sendable {
    let name: String
    let detail: String
  }

  /// A numbered step on a lane.
  struct Mark: Sendable {
    let number: Int
    let lane: Int
    let time: Date
    let ok: Bool
  }

  /// The time that two neighbouring lanes spent together.
  struct Meeting: Sendable {
    let lanes: ClosedRange<Int>
    let from: Date
    let to: Date
    let label: String
  }

  /// A message between two lanes.
  struct Passage: Sendable {
    let from: Int
    let to: Int
    let time: Date
    let label: String
  }

  let start: Date
  let end: Date
  let lanes: [Lane]
  var marks: [Mark] = []
  var meetings: [Meeting] = []
  var passages: [Passage] = []
}
