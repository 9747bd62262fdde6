import ExposureKeys

/// A beacon of the sick person's phone: what a match would know of it.
struct SentBeacon {
  let identifier: RollingProximityIdentifier
  let interval: IntervalNumber
  let metadata: BluetoothMetadata
  let key: DiagnosisKey
}

extension FieldTrial {
  /// The beacons of everybody who was marked sick.
  var sickBeacons: [SentBeacon] {
    phones.filter { $0.outcome == .sick }.enumerated().flatMap { index, phone in
      phone.sentBeacons(phoneNumber: index)
    }
  }
}

extension TrialPhone {
  /// What it sent, where identifier and power are known (Documentation/FieldTrials.md 2.1).
  fileprivate func sentBeacons(phoneNumber: Int) -> [SentBeacon] {
    let rows = Dictionary(grouping: log.advertisements, by: \.keyNumber)
    return rows.flatMap { number, rows -> [SentBeacon] in
      guard let first = rows.map(\.interval).min(),
        let key = Self.standIn(phoneNumber, number, first.startOfDay)
      else { return [] }
      return rows.compactMap { row in
        guard let identifier = row.identifier,
          let metadata = row.metadata
            ?? assumedTransmitPower.map(BluetoothMetadata.init(transmitPower:))
        else { return nil }
        return SentBeacon(
          identifier: identifier, interval: row.interval, metadata: metadata, key: key)
      }
    }
  }

  /// A key in the place of one that the log only numbers. Nothing is derived from it: the log says
  /// which identifiers it had.
  private static func standIn(
    _ phoneNumber: Int, _ keyNumber: Int, _ start: IntervalNumber
  ) -> DiagnosisKey? {
    let numbers = [UInt64(phoneNumber), UInt64(keyNumber)].flatMap { number in
      withUnsafeBytes(of: number.bigEndian, Array.init)
    }
    return TemporaryExposureKey(bytes: numbers, rollingStart: start).flatMap {
      DiagnosisKey(key: $0, reportType: .confirmedTest)
    }
  }
}
