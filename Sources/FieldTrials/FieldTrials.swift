// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Recordings of phones near a participant who was marked sick, read from a folder.
///
/// Documentation/FieldTrials.md, "The files", describes the format. Unreadable parts are counted and
/// skipped.
package struct FieldTrials: Sendable {
  /// The trials, in the order of their paths.
  package let trials: [FieldTrial]
  /// The counts of read and skipped content.
  package let counts: FieldTrialCounts

  /// Reads all trials in `folder`, at any depth; `progress` gets the number of trials read so far.
  package init(
    at folder: URL, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) throws(FieldTrialError) {
    let files = try TrialFiles(in: folder)
    var trials: [FieldTrial] = []
    var logsRead: Set<URL> = []
    var unreadable = 0
    for (index, information) in files.information.enumerated() {
      let reading = TrialReading(information, among: files)
      unreadable += reading.unreadableFileCount
      logsRead.formUnion(reading.logsRead)
      if let trial = reading.trial { trials.append(trial) }
      progress(index + 1, files.information.count)
    }
    guard !trials.isEmpty else { throw .noTrials(folder.path) }
    self.trials = trials
    counts = FieldTrialCounts(
      trials,
      filesUnreadable: unreadable + files.foldersUnreadable + files.logCount - logsRead.count,
      filesIgnored: files.ignored)
  }

  /// True if there is a file with the name of one of a trial.
  package static func isRecording(_ url: URL) -> Bool {
    TrialFiles.endings.contains(where: url.lastPathComponent.hasSuffix)
      && FileManager.default.fileExists(atPath: url.path)
  }
}

/// A recorded trial: its phones with their logs and final alerts.
package struct FieldTrial: Sendable {
  /// The name, such as `train_1`.
  package let name: String
  /// The start, on the phones' clocks.
  package let start: LogTime
  /// The end, on the phones' clocks.
  package let stop: LogTime
  /// The participating phones that left a log.
  package let phones: [TrialPhone]

  /// The time of the trial: start and end in the time zone that the log shows.
  ///
  /// The zone stated with start and end is used only if the log has no sighting in that time, because
  /// published trials state a wrong zone.
  func span(inTimeZoneOf log: PhoneLog) -> ClosedRange<Date> {
    let wall = start.wallSeconds...stop.wallSeconds
    let during = log.sightings.first { wall.contains($0.time.wallSeconds) }
    let zone = during?.time.zoneSeconds ?? start.zoneSeconds
    return start.date(zoneSeconds: zone)...stop.date(zoneSeconds: zone)
  }
}

/// A phone of a trial.
package struct TrialPhone: Sendable {
  /// The number in the trial, such as `07`.
  package let id: String
  /// The phone's final alert, or `sick`. If the trial corrects the label, the corrected one.
  package let outcome: TrialOutcome
  /// The alert as labelled, before the correction.
  package let labelledOutcome: TrialOutcome
  /// True for an iPhone; iPhones log no sightings.
  package let isIPhone: Bool
  /// The transmit power in the setup, in dBm.
  package let assumedTransmitPower: Int8?
  /// The difference between its clock and the trial's, in seconds.
  package let clockOffset: Double
  /// The content of its log.
  package let log: PhoneLog

  /// True for an Android phone with sightings that is not sick. It has a score if a beacon of the infected phone is
  /// usable. By its outcome it is a positive, a negative or, with a low alert, neither.
  package var isCompared: Bool { outcome != .sick && !isIPhone && !log.sightings.isEmpty }
}

/// The alert of a phone at the end of a trial.
package enum TrialOutcome: String, CaseIterable, Decodable, Sendable {
  /// No alert: the phone belongs to the participant who was marked sick.
  case sick
  /// A high-risk alert.
  case high
  /// A low-risk alert.
  case low
  /// No alert.
  case none
}

/// The counts of the content of a folder, read and skipped.
package struct FieldTrialCounts: Hashable, Sendable {
  /// The number of trials.
  package let trials: Int
  /// The number of phones with a log.
  package let phones: Int
  /// The number of phones for each final alert.
  package let phonesByOutcome: [TrialOutcome: Int]
  /// The number of phones for each final alert as labelled, before corrections.
  package let phonesByLabelledOutcome: [TrialOutcome: Int]
  /// The number of phones whose alert was corrected.
  package let alertsCorrected: Int
  /// Android phones with sightings, except sick ones. Includes phones with a low alert, which are not
  /// ranked.
  package let phonesCompared: Int
  /// Rows about sent beacons.
  package let advertisements: Int
  /// Rows that begin the sightings of one identifier.
  package let identifiersSeen: Int
  /// Rows about received beacons, one for each scan and identifier.
  package let sightings: Int
  /// Signal strengths in all sightings.
  package let samples: Int
  /// Signal strengths that no radio can report; they are skipped.
  package let samplesImplausible: Int
  /// Rows of logs that could not be parsed.
  package let linesSkipped: Int
  /// Files of a trial that could not be parsed, are too large or missing.
  package let filesUnreadable: Int
  /// Other files in the folder.
  package let filesIgnored: Int

  init(_ trials: [FieldTrial], filesUnreadable: Int, filesIgnored: Int) {
    let phones = trials.flatMap(\.phones)
    let logs = phones.map(\.log)
    self.trials = trials.count
    self.phones = phones.count
    phonesByOutcome = Dictionary(grouping: phones, by: \.outcome).mapValues(\.count)
    phonesByLabelledOutcome = Dictionary(grouping: phones, by: \.labelledOutcome)
      .mapValues(\.count)
    alertsCorrected = phones.count { $0.outcome != $0.labelledOutcome }
    phonesCompared = phones.filter(\.isCompared).count
    advertisements = logs.reduce(0) { $0 + $1.advertisements.count }
    identifiersSeen = logs.reduce(0) { $0 + $1.identifiersSeen }
    let sightings = logs.flatMap(\.sightings)
    self.sightings = sightings.count
    samplesImplausible = sightings.reduce(0) { $0 + $1.implausibleSamples }
    samples = samplesImplausible + sightings.reduce(0) { $0 + $1.signalStrengths.count }
    linesSkipped = logs.reduce(0) { $0 + $1.linesSkipped }
    self.filesUnreadable = filesUnreadable
    self.filesIgnored = filesIgnored
  }
}

/// The reason why no trial could be read.
package enum FieldTrialError: Error, Hashable {
  /// The folder does not exist.
  case noFolder(String)
  /// There is a file and not a folder.
  case file(String)
  /// The folder may not be read.
  case unreadable(String)
  /// The folder holds no readable trial.
  case noTrials(String)
  /// The folder holds more than `FieldTrialLimit.files` files.
  case tooManyFiles(String)
}

extension FieldTrialError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noFolder(let path):
      "The folder \(path) does not exist: name the folder that holds the trials."
    case .file(let path):
      "\(path) is a file: name the folder that holds the trials, with the logs of all phones."
    case .unreadable(let path):
      "The folder \(path) cannot be read: check its permissions."
    case .noTrials(let path):
      "No trial in \(path) can be read: name a folder with TEST_info.json files and the phones' "
        + "logs beside them."
    case .tooManyFiles(let path):
      "There are more than \(FieldTrialLimit.files) files in \(path): name the folder of the trials."
    }
  }
}

/// Limits for reading a folder of unknown content.
package enum FieldTrialLimit {
  /// Files in the folder, at any depth.
  package static let files = 100_000
  /// Bytes of one file; the log of some weeks is smaller.
  package static let fileBytes = 64 << 20
  /// Signal strengths that a radio can report, in dBm.
  package static let signalStrengths: ClosedRange<Int> = -127...20
  /// Antenna corrections that a receiver can have, in dB.
  package static let receiverOffsets: ClosedRange<Int> = -60...60
}
