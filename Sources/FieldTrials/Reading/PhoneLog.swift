/// What a phone logged: how it is calibrated, what it sent, what it heard.
package struct PhoneLog: Sendable {
  /// What makes up for the phone's antenna on reception, in dB; nil where the log does not say.
  package internal(set) var receiverOffset: Int8?
  /// What it sent.
  package internal(set) var advertisements: [LoggedAdvertisement] = []
  /// What it heard, one row a scan and identifier.
  package internal(set) var sightings: [LoggedSighting] = []
  /// Rows that begin what was heard under one identifier.
  package internal(set) var identifiersSeen = 0
  /// Rows that could not be understood.
  package internal(set) var linesSkipped = 0

  /// An empty log.
  init() {}
}
