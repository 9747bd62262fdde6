// SPDX-License-Identifier: Apache-2.0
import ExposureKeys

/// A beacon that a sick participant's phone sent.
struct SentBeacon {
  let identifier: RollingProximityIdentifier
  let interval: IntervalNumber
  let metadata: BluetoothMetadata
  let key: DiagnosisKey
}

/// The beacons of the sick participants of a trial, and the number of unusable ones by reason.
struct SentBeacons {
  private(set) var usable: [SentBeacon] = []
  private(set) var losses: [TrialLoss: Int] = [:]

  init(of trial: FieldTrial, iPhonePower: IPhonePower) {
    for (index, phone) in trial.phones.filter({ $0.outcome == .sick }).enumerated() {
      add(phone, number: index, iPhonePower)
    }
  }

  private mutating func add(_ phone: TrialPhone, number: Int, _ iPhonePower: IPhonePower) {
    let rows = Dictionary(grouping: phone.log.advertisements, by: \.keyNumber)
    for (keyNumber, rows) in rows.sorted(by: { $0.key < $1.key }) {
      guard let first = rows.map(\.interval).min(),
        let key = Self.placeholderKey(number, keyNumber, first.startOfDay)
      else { continue }
      for row in rows { add(row, of: phone, key, iPhonePower) }
    }
  }

  private mutating func add(
    _ row: LoggedAdvertisement, of phone: TrialPhone, _ key: DiagnosisKey,
    _ iPhonePower: IPhonePower
  ) {
    guard let identifier = row.identifier else { return lose(.beaconsIdentifierWithheld) }
    guard let metadata = row.metadata ?? phone.assumedMetadata(of: row, iPhonePower) else {
      return lose(.beaconsPowerUnknown)
    }
    guard BluetoothMetadata.plausibleTransmitPower.contains(metadata.transmitPower) else {
      return lose(.beaconsPowerImplausible)
    }
    usable.append(
      SentBeacon(identifier: identifier, interval: row.interval, metadata: metadata, key: key))
  }

  private mutating func lose(_ loss: TrialLoss) {
    losses[loss, default: 0] += 1
  }

  /// A placeholder for a key, since the log only numbers the keys. The log lists its identifiers, so none
  /// are derived from it.
  private static func placeholderKey(
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

extension TrialPhone {
  /// The metadata of a row that withholds it, from the transmit power that the recording states elsewhere.
  ///
  /// An Android phone states its calibrated power in the row and among the flags. The power in the row of an
  /// iPhone is not calibrated.
  fileprivate func assumedMetadata(
    of row: LoggedAdvertisement, _ iPhonePower: IPhonePower
  ) -> BluetoothMetadata? {
    let logged = row.statedTransmitPower ?? log.calibratedTransmitPower
    let isSetupFirst = isIPhone && iPhonePower == .setup
    let power = isSetupFirst ? assumedTransmitPower ?? logged : logged ?? assumedTransmitPower
    return power.map(BluetoothMetadata.init(transmitPower:))
  }
}
