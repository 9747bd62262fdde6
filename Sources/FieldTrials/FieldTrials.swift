import Foundation

/// Recordings of people who carried phones around one who was marked sick, read from a folder.
///
/// Documentation/FieldTrials.md 1 describes the files. What cannot be read is counted, not guessed.
package struct FieldTrials: Sendable {
  /// The trials, in the order of their paths.
  package let trials: [FieldTrial]
  /// What was read, and what was not.
  package let counts: FieldTrialCounts

  /// Reads all trials in `folder`, at any depth; `progress` is told how many of how many are read.
  package init(
    at folder: URL, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) throws(FieldTrialError) {
    let files = try TrialFiles(in: folder)
    var trials: [FieldTrial] = []
    var unreadable = 0
    for (index, information) in files.information.enumerated() {
      let reading = TrialReading(information, among: files)
      unreadable += reading.filesAmiss
      if let trial = reading.trial { trials.append(trial) }
      progress(index + 1, files.information.count)
    }
    guard !trials.isEmpty else { throw .noTrials(folder.path) }
    let logsRead = trials.reduce(0) { $0 + $1.phones.count }
    self.trials = trials
    counts = FieldTrialCounts(
      trials, filesUnreadable: unreadable + files.logCount - logsRead, filesIgnored: files.ignored)
  }
}

/// What was read of a folder, and what was not.
package struct FieldTrialCounts: Hashable, Sendable {
  /// Trials read.
  package let trials: Int
  /// Phones with a log.
  package let phones: Int
  /// Phones by what they told their owners.
  package let phonesByOutcome: [TrialOutcome: Int]
  /// Android phones with sightings, without the sick person's; those with a low alert too, which no
  /// ranking counts.
  package let phonesCompared: Int
  /// Rows on what phones sent.
  package let advertisements: Int
  /// Rows that begin what was heard under one identifier.
  package let identifiersSeen: Int
  /// Rows on what phones heard, one a scan and identifier.
  package let sightings: Int
  /// Signal strengths in all of those.
  package let samples: Int
  /// Those among them that no radio reports; they are left out.
  package let samplesImplausible: Int
  /// Rows of logs that could not be understood.
  package let linesSkipped: Int
  /// Files of a trial that could not be understood, were too large or are missing.
  package let filesUnreadable: Int
  /// Other files in the folder.
  package let filesIgnored: Int

  init(_ trials: [FieldTrial], filesUnreadable: Int, filesIgnored: Int) {
    let phones = trials.flatMap(\.phones)
    let logs = phones.map(\.log)
    self.trials = trials.count
    self.phones = phones.count
    phonesByOutcome = Dictionary(grouping: phones, by: \.outcome).mapValues(\.count)
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

/// Why no trial could be read at all.
package enum FieldTrialError: Error, Hashable {
  /// Name a folder that is there.
  case noFolder(String)
  /// Name a folder with recordings in it.
  case noTrials(String)
  /// Name a folder of recordings only.
  case tooManyFiles(String)
}

extension FieldTrialError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noFolder(let path):
      "There is no folder \(path): name the folder that holds the trials."
    case .noTrials(let path):
      "No trial in \(path) can be read: name a folder with TEST_info.json files and the phones' "
        + "logs beside them."
    case .tooManyFiles(let path):
      "There are more than \(FieldTrialLimit.files) files in \(path): name the folder of the trials."
    }
  }
}

/// What is read of a folder that somebody else filled.
package enum FieldTrialLimit {
  /// Files in the folder, at any depth.
  package static let files = 100_000
  /// Bytes of one file: a phone's log of some weeks.
  package static let fileBytes = 64 << 20
  /// Signal strengths that a radio can report, in dBm.
  package static let signalStrengths: ClosedRange<Int> = -127...20
  /// Corrections that a receiver can have, in dB, either way.
  package static let receiverOffsets: ClosedRange<Int> = -60...60
}
