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
