// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Secrets

/// An operation of the phone's owner. A running phone performs it for a command that asks over its socket and for its
/// pages; without a running phone, the command performs it itself.
package enum PhoneOperation: Codable, Hashable, Sendable {
  /// The state of the phone.
  case status
  /// Downloads and analyses key files now.
  case check
  /// Turns exposure notifications on. The command is the owner's consent.
  case enable
  /// Turns exposure notifications off.
  case disable
  /// The checks of the last fourteen days.
  case history
  /// The exposures of the last fourteen days.
  case exposures
  /// The same for pages: without details if the owner hides them.
  case shownExposures
  /// Uploads the phone's keys with the PIN of the request. The command is the owner's consent.
  /// The date that the owner states chooses the keys' transmission risks.
  case upload(sharesAbroad: Bool, diagnosis: Diagnosis = .notStated)
  /// Continues an unfinished upload, discards it, or notes that its result was shown.
  case unfinishedUpload(UnfinishedUpload)
  /// Shares the keys of the days after an upload, or ends that. The command is the owner's consent.
  case followingDays(FollowingDays)
  /// The keys that an upload with this date and the PIN of the request would share, without the keys themselves.
  case uploadPreview(Diagnosis)
  /// Tells if the phone has left its region; with a region, records first that it is there now.
  case travel(to: String?)
  /// Removes data.
  case remove(Removal)
  /// Removes rows by their IDs; texts that are no ID of a row are ignored.
  case removeRows(Rows)
  /// A step of the onboarding.
  case onboard(Onboarding)
  /// Changes choices of the owner.
  case choose(PhoneChoice)
  /// Goes on without the app's data, which is damaged.
  case startOver
  /// The requests that left the phone, newest first.
  case messages
  /// The same with the number of received beacons, for which all of them are read.
  case traffic
  /// All data about the owner, in one document.
  case exportMyData
  /// Receives scans as if they came from the radio. For developers.
  case hear([HeardScan])
  /// The identifiers that the phone has sent since its start. For developers.
  case sent
  /// A function of the developer menu.
  case develop(DeveloperAction)

  /// The data that an operation removes.
  package enum Removal: String, Codable, CaseIterable, Sendable {
    case exposures, history, notices, everything
  }

  /// The actions on an unfinished upload.
  package enum UnfinishedUpload: String, Codable, CaseIterable, Sendable {
    case `continue`, forget, seen
  }

  /// The decisions on the keys of the following days.
  package enum FollowingDays: String, Codable, CaseIterable, Sendable {
    case share, end
  }

  /// The steps of the onboarding that a page reports.
  package enum Onboarding: String, Codable, CaseIterable, Sendable {
    case consent, decline, finish
  }

  /// The IDs of notices in the history, of checks and of exposures. Shown notices stay shown.
  package struct Rows: Codable, Hashable, Sendable {
    package var notices: [String] = []
    package var checks: [String] = []
    package var exposures: [String] = []

    package init(notices: [String] = [], checks: [String] = [], exposures: [String] = []) {
      self.notices = notices
      self.checks = checks
      self.exposures = exposures
    }
  }

  /// True for operations that only a phone started with `--developer` performs.
  package var isForDevelopers: Bool {
    switch self {
    case .hear, .sent, .develop: true
    default: false
    }
  }

  /// The time in which a running phone answers, in seconds. The longest download of a check is limited by the app.
  package var secondsMax: Int {
    switch self {
    case .check: 1_800
    case .upload, .unfinishedUpload: 300
    default: 60
    }
  }
}

/// A choice of the owner; `nil` leaves it as it is.
package struct PhoneChoice: Codable, Hashable, Sendable {
  package var language: Language?
  /// True to hide the details of exposures.
  package var hidesDetails: Bool?
  /// True to be shown notices.
  package var notifications: Bool?
  /// True for news about statistics.
  package var statistics: Bool?

  package init(
    language: Language? = nil, hidesDetails: Bool? = nil, notifications: Bool? = nil,
    statistics: Bool? = nil
  ) {
    self.language = language
    self.hidesDetails = hidesDetails
    self.notifications = notifications
    self.statistics = statistics
  }
}

/// The options of a command that must be equal to those of the running phone.
package struct PhoneStart: Codable, Hashable, Sendable {
  /// The offset of the clock in seconds; 0 if none was given.
  package var clockOffset = 0
  /// The path of the configuration; `nil` if none was given.
  package var configuration: String?
  /// The path of the file of the sealing key; `nil` if none was given.
  package var keyFile: String?

  /// No options.
  package init() {}

  /// The normalized form of a path for comparisons.
  package static func path(_ text: String) -> String {
    URL(fileURLWithPath: text).resolvingSymlinksInPath().path
  }

  /// The error reply to a command whose options differ from those of the running phone; `nil` if they are equal.
  func refusal(of command: PhoneStart) -> PhoneReply? {
    let isOffset = command.clockOffset == 0 || command.clockOffset == clockOffset
    let options = [
      isOffset ? nil : "--clock-offset",
      Self.fits(command.configuration, configuration) ? nil : "--config",
      Self.fits(command.keyFile, keyFile) ? nil : "--key-file",
    ].compactMap(\.self)
    guard !options.isEmpty else { return nil }
    return PhoneReply(
      .badInput,
      "The phone is running with another \(options.joined(separator: " and ")): leave the option out, or stop"
        + " the phone first.")
  }

  /// A phone whose key is a credential of systemd has no path to compare.
  private static func fits(_ given: String?, _ running: String?) -> Bool {
    given == nil || running == nil || given == running
  }
}

/// A scan in a request: its time in Unix seconds and the received beacons.
package struct HeardScan: Codable, Hashable, Sendable {
  /// The time of the scan.
  package let time: Int64
  /// The received beacons.
  package let beacons: [Beacon]

  /// Creates a scan.
  package init(time: Int64, beacons: [Beacon]) {
    self.time = time
    self.beacons = beacons
  }

  /// A received beacon.
  package struct Beacon: Codable, Hashable, Sendable, Redacted {
    /// The identifier and the metadata, 20 bytes.
    package let bytes: Data
    /// The signal strength in dBm.
    package let signalStrength: Int8

    /// Creates a beacon.
    package init(bytes: Data, signalStrength: Int8) {
      self.bytes = bytes
      self.signalStrength = signalStrength
    }
  }
}
