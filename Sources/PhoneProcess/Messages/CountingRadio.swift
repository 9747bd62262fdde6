import ExposureKeys

/// A radio that counts the beacons that the phone sends.
struct CountingRadio: Radio {
  private let radio: any Radio
  private let record: MessageRecord

  /// Counts the beacons that go through `radio`.
  init(_ radio: any Radio, record: MessageRecord) {
    self.radio = radio
    self.record = record
  }

  var isPoweredOn: Bool {
    get async { await radio.isPoweredOn }
  }

  func advertise(_ advertisement: Advertisement) async {
    await record.countBeacon()
    await radio.advertise(advertisement)
  }

  func stopAdvertising() async {
    await radio.stopAdvertising()
  }

  func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {
    await radio.listen(receive)
  }

  func stopListening() async {
    await radio.stopListening()
  }
}
