import ExposureKeys
import Foundation
import Logging
import SealedStorage
import World

/// Sends the phone's beacon and keeps the keys behind it.
///
/// A new key each UTC day; a new identifier, with its metadata and address, every ten to twenty
/// minutes and with each new key. Documentation/Framework.md 3.
actor Beacons {
  /// What is on the air.
  private struct OnAir {
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
  private var onAir: OnAir?

  init(
    radio: any Radio, randomness: any Randomness, transmitPower: Int8, file: SealedFile,
    logger: Logger
  ) {
    self.radio = radio
    self.randomness = randomness
    self.metadata = BluetoothMetadata(transmitPower: transmitPower)
    self.file = file
    self.logger = logger
    own = Self.remembered(in: file, logger: logger)
  }

  /// Sends what is due at `now`; returns when the next change is due.
  func send(at now: Date) async -> Date? {
    guard let interval = IntervalNumber(now) else {
      await stop()
      return nil
    }
    let key = key(at: interval)
    if !isSaved { save() }
    if let onAir, onAir.key == key, onAir.since <= now, now < onAir.until { return onAir.until }
    guard let key else { return nil }
    return await advertise(key, at: now, interval)
  }

  /// Falls silent. The keys stay.
  func stop() async {
    guard onAir != nil else { return }
    onAir = nil
    await radio.stopAdvertising()
  }

  /// The keys for an upload. With `includingToday` the key in use is cut short and, once that is on
  /// the disk, never used again.
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

  /// Forgets keys older than the retention period.
  func prune(at now: Date) {
    guard let interval = IntervalNumber(now), own.prune(at: interval) else { return }
    save()
  }

  /// Falls silent and forgets every key.
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
    onAir = OnAir(key: key, since: now, until: until)
    await radio.advertise(
      Advertisement(
        identifier: identifier, metadata: schedule.seal(metadata, beside: identifier)))
    return until
  }

  /// The key of `interval`, a new one where the day has none yet.
  private func key(at interval: IntervalNumber) -> TemporaryExposureKey? {
    if own.key(at: interval) == nil {
      own.add(randomness.bytes(TemporaryExposureKey.byteCount), at: interval)
      isSaved = false
    }
    return own.key(at: interval)
  }

  /// A key that finds no room is used all the same, since others can be warned while this process
  /// lives; each beat tries again.
  private func save() {
    do throws(SealedStorageError) {
      try write(own)
    } catch {
      isSaved = false
      logger.warning("own keys are not on the disk yet, will try again: \(error)")
    }
  }

  private func write(_ keys: OwnKeys) throws(SealedStorageError) {
    guard let content = try? JSONEncoder().encode(StoredKeys(keys)) else { throw .damaged }
    try file.replace(with: content)
    isSaved = true
  }

  private static func remembered(in file: SealedFile, logger: Logger) -> OwnKeys {
    do throws(SealedStorageError) {
      guard let content = try file.read() else { return OwnKeys() }
      let stored = try? JSONDecoder().decode(StoredKeys.self, from: content)
      return stored?.ownKeys ?? OwnKeys()
    } catch {
      logger.error("own keys cannot be read, the phone begins anew: \(error)")
      if error == .damaged { _ = try? file.setAside() }
      return OwnKeys()
    }
  }
}
