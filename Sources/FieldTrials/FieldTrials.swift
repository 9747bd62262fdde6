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
