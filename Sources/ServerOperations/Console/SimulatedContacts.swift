// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import RiskRules
import World

/// Contacts of simulated phones in one week.
///
/// They are the same for every configuration: the distances and durations of meetings in a household, at work, in a
/// vehicle and in a queue, in fixed proportions.
enum SimulatedContacts {
  static let lastWeek = contacts(phoneCount: 300)

  /// A kind of meeting: its attenuation in dB, its duration in minutes, and its share in percent.
  private struct Meeting {
    let attenuation: ClosedRange<Int>
    let minutes: ClosedRange<Int>
    let share: Int
  }

  private static let meetings = [
    // In a queue: near, for a few minutes.
    Meeting(attenuation: 52...70, minutes: 3...9, share: 45),
    // In a vehicle: near, for a while.
    Meeting(attenuation: 55...75, minutes: 8...30, share: 30),
    // At work: across a room, for long.
    Meeting(attenuation: 62...82, minutes: 20...90, share: 18),
    // In a household.
    Meeting(attenuation: 48...66, minutes: 30...180, share: 7),
  ]

  private static let scanMinutes = 4
  private static let dayCount = 7

  private static func contacts(phoneCount: Int) -> PhoneContacts {
    var generator = Generator()
    return PhoneContacts(
      phones: (0..<phoneCount).map { _ in
        let windows = (0..<dayCount).flatMap { day in
          (0..<generator.number(in: 0...3)).map { _ in window(day: day, &generator) }
        }
        return PhoneContacts.Phone(windows: windows, today: dayCount)
      })
  }

  private static func window(day: Int, _ generator: inout Generator) -> RiskWindow {
    var draw = generator.number(in: 1...100)
    let meeting = meetings.first { meeting in
      draw -= meeting.share
      return draw <= 0
    }
    let (attenuation, minutes) = (meeting?.attenuation ?? 60...60, meeting?.minutes ?? 5...5)
    let duration = generator.number(in: minutes)
    let scans = stride(from: 0, to: min(duration, 30), by: scanMinutes).map { _ in
      RiskWindow.Scan(
        minimumAttenuation: ENAttenuation(generator.number(in: attenuation)),
        seconds: scanMinutes * 60)
    }
    return RiskWindow(
      date: Date(unixDay: day),
      reportType: .confirmedTest,
      infectiousness: generator.number(in: 1...3) == 1 ? .high : .standard,
      calibrationConfidence: .high, scans: scans)
  }

  /// A linear congruential generator with a fixed seed (constants from Numerical Recipes).
  private struct Generator {
    private var state: UInt64 = 20_270_115

    mutating func number(in range: ClosedRange<Int>) -> Int {
      state = (state &* 1_664_525 &+ 1_013_904_223) & 0xFFFF_FFFF
      return range.lowerBound + Int(state >> 8) % range.count
    }
  }
}
