import ExposureKeys
import Foundation
import Logging
import SealedStorage
import World

/// Sends the device's beacons and stores the keys from which they are derived.
///
/// The key changes each UTC day. The identifier changes, with its metadata and address, every ten to
/// twenty minutes and with each new key.
actor Beacons {
  private struct CurrentBeacon {
    let key: TemporaryExposureKey
    let since: Date
    let until: Date
  }

  private let radio: any Radio
  private let randomness: any Randomness
  private let metadata: BluetoothMetadata
  private let file: SealedFile
  private let logger: Logger
  private var own: OwnKeys
  private var isSaved = true
  private var current: CurrentBeacon?

  init(
    radio: any Radio, randomness: any Randomness, calibration: Calibration, file: SealedFile,
    logger: Logger
  ) {
    self.radio = radio
    self.randomness = randomness
    self.metadata = BluetoothMetadata(calibration)
    self.file = file
    self.logger = logger
    own = Self.storedKeys(in: file, logger: logger)
  }

  /// Sends the beacon of `now` and returns the time of its next change.
  func send(at now: Date) async -> Date? {
    guard let interval = IntervalNumber(now) else {
      await stop()
      return nil
    }
    let key = key(at: interval)
    if !isSaved { save() }
    if let current, current.key == key, current.since <= now, now < current.until {
      return current.until
    }
    guard let key else { return nil }
    return await advertise(key, at: now, interval)
  }

  /// Stops sending. The keys stay.
  func stop() async {
    guard current != nil else { return }
    current = nil
    await radio.stopAdvertising()
  }

  /// Returns the keys for an upload. With `includingToday` the current key is shortened; it is returned
  /// only after the shortened key is on the disk, and never used again.
  func release(at now: Date, includingToday: Bool) throws(ENError) -> [TemporaryExposureKey] {
    guard let interval = IntervalNumber(now) else { return [] }
    var next = own
    let released = next.release(at: interval, includingToday: includingToday)
    guard next != own else { return released }
    next.add(randomness.bytes(TemporaryExposureKey.byteCount), at: interval)
    do throws(SealedStorageError) {
      try write(next)
    } catch {
      throw ENError(error)
    }
    own = next
    return released
  }

  /// Removes keys older than the retention period.
  func prune(at now: Date) {
    guard let interval = IntervalNumber(now), own.prune(at: interval) else { return }
    save()
  }

  /// Stops sending and removes every key.
  func removeAll() async throws(SealedStorageError) {
    await stop()
    try file.remove()
    own = OwnKeys()
    isSaved = true
  }
}

extension Beacons {
  private func advertise(
    _ key: TemporaryExposureKey, at now: Date, _ interval: IntervalNumber
  ) async -> Date {
    let schedule = KeySchedule(key)
    let identifier = schedule.identifier(at: interval)
    let seconds = randomness.number(in: BeaconLimit.rotationSeconds)
    let until = min(now.addingTimeInterval(TimeInterval(seconds)), key.rollingEnd.date)
    current = CurrentBeacon(key: key, since: now, until: until)
    await radio.advertise(
      Advertisement(
        identifier: identifier, metadata: schedule.seal(metadata, beside: identifier)))
    return until
  }

  /// The key of `interval`; a new one if the day has none yet.
  private func key(at interval: IntervalNumber) -> TemporaryExposureKey? {
    if own.key(at: interval) == nil {
      own.add(randomness.bytes(TemporaryExposureKey.byteCount), at: interval)
      isSaved = false
    }
    return own.key(at: interval)
  }

  /// A key that cannot be stored is used nevertheless, because it can warn others as long as this
  /// process runs. The next call tries to store it again.
  private func save() {
    do throws(SealedStorageError) {
      try write(own)
    } catch {
      isSaved = false
      logger.warning("storing own keys failed: \(error); will try again")
    }
  }

  private func write(_ keys: OwnKeys) throws(SealedStorageError) {
    guard let content = try? JSONEncoder().encode(StoredKeys(keys)) else { throw .damaged }
    try file.replace(with: content)
    isSaved = true
  }

  private static func storedKeys(in file: SealedFile, logger: Logger) -> OwnKeys {
    do throws(SealedStorageError) {
      guard let content = try file.read() else { return OwnKeys() }
      let stored = try? JSONDecoder().decode(StoredKeys.self, from: content)
      return stored?.ownKeys ?? OwnKeys()
    } catch {
      logger.error("reading own keys failed: \(error); starting without keys")
      if error == .damaged { _ = try? file.setAside() }
      return OwnKeys()
    }
  }
}
