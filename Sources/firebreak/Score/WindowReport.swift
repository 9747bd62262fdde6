// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import FieldTrials
import Foundation
import Terminal

/// An exposure window in the JSON that `firebreak score` reads.
struct WindowReport: Encodable {
  /// A scan with the names of Apple's framework.
  struct Scan: Encodable {
    let minimumAttenuation: UInt8
    let typicalAttenuation: UInt8
    let secondsSinceLastScan: Int
  }

  private let date: String
  private let calibrationConfidence: UInt32
  private let infectiousness: UInt32
  private let diagnosisReportType: UInt32
  private let scanInstances: [Scan]
  /// The trial, the phone and its alert, if the windows are those of trials.
  private let trial: String?
  private let phone: String?
  private let alert: String?

  init(_ window: ExposureWindow, of phone: PhoneEncounter? = nil) {
    date = CalendarDate(midnight: window.date).text
    calibrationConfidence = UInt32(window.calibrationConfidence.rawValue)
    infectiousness = UInt32(window.infectiousness.rawValue)
    diagnosisReportType = UInt32(window.diagnosisReportType.rawValue)
    scanInstances = window.scanInstances.map {
      Scan(
        minimumAttenuation: $0.minimumAttenuation, typicalAttenuation: $0.typicalAttenuation,
        secondsSinceLastScan: $0.secondsSinceLastScan)
    }
    trial = phone?.trialName
    self.phone = phone?.phone.id
    alert = phone?.phone.outcome.rawValue
  }

  /// Windows as a JSON list, one in a line.
  static func list(of windows: [WindowReport]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let rows = try windows.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
    return rows.isEmpty ? "[]\n" : "[\n\(rows.joined(separator: ",\n"))\n]\n"
  }

  /// The windows of all phones of trials that can be scored.
  static func list(of encounters: TrialEncounters) throws -> String {
    let rules = try WindowRules(ENExposureConfiguration().forInfectedParticipant)
    return try list(
      of: encounters.phones.flatMap { phone in
        phone.windows(rules).map { WindowReport($0, of: phone) }
      })
  }
}
