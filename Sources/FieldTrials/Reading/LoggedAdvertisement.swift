import ExposureKeys

/// One row of what a phone sent.
package struct LoggedAdvertisement: Hashable, Sendable {
  /// Who it called itself; nil where the recording withholds it.
  package let identifier: RollingProximityIdentifier?
  /// The interval the identifier belongs to.
  package let interval: IntervalNumber
  /// Which of the phone's keys it follows from. The keys themselves are not logged.
  package let keyNumber: Int
  /// What the phone said of its radio; nil where the recording withholds it.
  package let metadata: BluetoothMetadata?

  /// The word that stands for what a recording withholds.
  static let withheld = "fake"

  /// Nil where `row` is no such row.
  init?(_ row: LogRow) {
    guard let first = row.first, LogTime(first) != nil,
      let interval = row["intervalNum"].flatMap({ UInt32($0) }),
      let key = row["TEK"], key.first == "#", let keyNumber = UInt16(key.dropFirst()),
      let identifier = row["RPI"], let metadata = row["metadata"]
    else { return nil }
    self.interval = IntervalNumber(rawValue: interval)
    self.keyNumber = Int(keyNumber)
    self.identifier = LogRow.bytes(identifier).flatMap { RollingProximityIdentifier(bytes: $0) }
    self.metadata = LogRow.bytes(metadata).flatMap { BluetoothMetadata(bytes: $0) }
    guard self.identifier != nil || identifier == Self.withheld,
      self.metadata != nil || metadata == Self.withheld
    else { return nil }
  }
}
