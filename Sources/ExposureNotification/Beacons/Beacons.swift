// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Logging
import SealedStorage
import Secrets
import World

/// Sends the device's beacons and stores the keys from which they are derived.
///
/// The key changes each UTC day. The identifier changes, with its metadata and address, every ten to
/// twenty minutes and with each new key.
actor Beacons {
  private struct CurrentBeacon {
    let key: TemporaryExposureKey
    let schedule: KeySchedule
    let since: Date
    let until: Date
    let advertisement: Advertisement
  }

  private let radio: any Radio
  private let randomness: any Randomness
  private let metadata: BluetoothMetadata
  private let files: OwnKeyFiles
  private let logger: Logger
  private var own = OwnKeys()
  /// The keys on the disk; nil until they have been read. Until then nothing is sent.
  private var stored: OwnKeys?
  /// The days that limited the retention period when old keys were last removed.
  private var pruned: Set<Day> = []
  private var current: CurrentBeacon?

  init(
    radio: any Radio, randomness: any Randomness, calibration: Calibration, files: OwnKeyFiles,
    logger: Logger
  ) {
    self.radio = radio
    self.randomness = randomness
    self.metadata = BluetoothMetadata(calibration)
    self.files = files
    self.logger = logger
    do throws(SealedStorageError) {
      own = try files.read()
      stored = own
    } catch {
      logger.error("reading own keys failed: \(error)")
    }
  }

  /// Sends the beacon of `now` and returns the time of its next change.
  func send(at now: Date) async -> Date? {
    guard isReadable(), let interval = IntervalNumber(now), let key = key(at: interval) else {
      await stop()
      return nil
    }
    if own != stored { save() }
    if let current, current.key == key, current.since <= now, now < current.until {
      return current.until
    }
    return await advertise(key, at: now, interval)
  }

  /// Sends the beacons from `now` until `end` one after the other, for a simulation that computes this time at once.
  ///
  /// The radio sends the last one when this returns. The result is empty if nothing can be sent.
  func send(from now: Date, until end: Date) async -> [ScheduledBeacon] {
    var beacons: [ScheduledBeacon] = []
    var time = now
    while time < end, let next = await send(at: time), let current {
      beacons.append(ScheduledBeacon(start: time, advertisement: current.advertisement))
      time = next
    }
    return beacons
  }

  /// Stops sending. The keys stay.
  func stop() async {
    guard current != nil else { return }
    current = nil
    await radio.stopAdvertising()
  }

  /// The number of stored keys.
  func keyCount() throws(SealedStorageError) -> Int {
    try read()
    return own.keys.count
  }

  /// Returns the keys for an upload. With `includingToday` the current key is shortened.
  ///
  /// The keys are returned only after they are marked as released on the disk; they are never sent again.
  func release(at now: Date, includingToday: Bool) throws(ENError) -> [TemporaryExposureKey] {
    do throws(SealedStorageError) {
      try read()
      guard let interval = IntervalNumber(now) else { return [] }
      var next = own
      let released = next.release(at: interval, includingToday: includingToday)
      guard next != own else { return released }
      add(to: &next, at: interval)
      try write(next)
      own = next
      return released
    } catch {
      throw ENError(error)
    }
  }

  /// The times of the keys that `release` would return; nothing changes.
  func releasable(at now: Date, includingToday: Bool) throws(SealedStorageError) -> [KeyPeriod] {
    try read()
    guard let interval = IntervalNumber(now) else { return [] }
    var next = own
    return next.release(at: interval, includingToday: includingToday).map {
      KeyPeriod(start: $0.rollingStart.rawValue, period: $0.rollingPeriod)
    }
  }

  /// Removes the keys outside the retention period, and damaged files of those days.
  func prune(keeping period: RetentionPeriod) {
    let days = Set(period.times.map(Day.init(of:)))
    guard days != pruned, isReadable() else { return }
    own.prune(keeping: period)
    do throws(SealedStorageError) {
      try files.prune(keeping: period)
      stored?.prune(keeping: period)
      pruned = days
    } catch {
      logger.warning("removing old keys failed: \(error); will try again")
    }
  }

  /// Stops sending and removes every key.
  func removeAll() async throws(SealedStorageError) {
    await stop()
    try files.removeAll()
    own = OwnKeys()
    stored = own
  }
}

extension Beacons {
  private func advertise(
    _ key: TemporaryExposureKey, at now: Date, _ interval: IntervalNumber
  ) async -> Date {
    let schedule = current.flatMap { $0.key == key ? $0.schedule : nil } ?? KeySchedule(key)
    let identifier = schedule.identifier(at: interval)
    let seconds = randomness.number(in: BeaconLimit.rotationSeconds)
    let until = min(now.addingTimeInterval(TimeInterval(seconds)), key.rollingEnd.date)
    let advertisement = Advertisement(
      identifier: identifier, metadata: schedule.seal(metadata, beside: identifier))
    current = CurrentBeacon(
      key: key, schedule: schedule, since: now, until: until, advertisement: advertisement)
    await radio.advertise(advertisement)
    return until
  }

  /// The key of `interval`; a new one if the day has none yet. Nil if the clock was set back into the
  /// period of released keys and the day may have no other.
  private func key(at interval: IntervalNumber) -> TemporaryExposureKey? {
    if own.key(at: interval) == nil {
      add(to: &own, at: interval)
    }
    return own.key(at: interval)
  }

  /// Adds a random key, unless `keys` has one for `interval` or the day may have no other.
  private func add(to keys: inout OwnKeys, at interval: IntervalNumber) {
    withZeroedOnExit(randomness.bytes(TemporaryExposureKey.byteCount)) {
      keys.add($0, at: interval)
    }
  }

  /// Stores the keys. A failure is logged and the next call retries; the keys are used meanwhile, because an
  /// upload by this process can still contain them.
  private func save() {
    do throws(SealedStorageError) {
      try write(own)
    } catch {
      logger.warning("storing own keys failed: \(error); will try again")
    }
  }

  /// Writes the days that changed, oldest first: today's key, which is in use, changes last.
  private func write(_ keys: OwnKeys) throws(SealedStorageError) {
    var written = stored ?? OwnKeys()
    for day in keys.days.union(written.days).sorted()
    where keys.keys(of: day) != written.keys(of: day) {
      try files.replace(day, with: keys.keys(of: day))
      written.replace(day, with: keys.keys(of: day))
      stored = written
    }
  }

  /// Reads the keys unless they have been read.
  private func read() throws(SealedStorageError) {
    guard stored == nil else { return }
    own = try files.read()
    stored = own
  }

  private func isReadable() -> Bool {
    do throws(SealedStorageError) {
      try read()
      return true
    } catch {
      logger.warning("reading own keys failed: \(error); will try again")
      return false
    }
  }
}

/// A beacon and the time from which a device sends it.
package struct ScheduledBeacon: Hashable, Sendable {
  package let start: Date
  package let advertisement: Advertisement
}
