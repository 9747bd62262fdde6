import ExposureKeys
import Foundation
import Logging
import SealedStorage
import World

/// Hears other phones' beacons and keeps them for 14 days, sealed, a segment a day.
///
/// Documentation/Framework.md 4.
actor Contacts {
  private let radio: any Radio
  private let clock: any WallClock
  private let log: SealedLog
  private let logger: Logger
  private var isListening = false
  /// How many sightings each day holds, as far as this process has looked.
  private var counts: [UInt32: Int] = [:]
  /// The oldest day when old ones were last removed.
  private var pruned: UInt32?

  init(radio: any Radio, clock: any WallClock, log: SealedLog, logger: Logger) {
    self.radio = radio
    self.clock = clock
    self.log = log
    self.logger = logger
  }

  /// Begins to hear.
  func listen() async {
    guard !isListening else { return }
    isListening = true
    await radio.listen { [weak self] sightings in await self?.hear(sightings) }
  }

  /// Stops hearing. What was heard stays.
  func stop() async {
    guard isListening else { return }
    isListening = false
    await radio.stopListening()
  }

  /// Keeps what one scan heard; when this returns it is on the disk, or lost with a line in the log.
  func hear(_ sightings: [Sighting]) async {
    guard isListening else { return }
    let days = Dictionary(grouping: sightings) { Day(of: $0.time) }
    for (day, sightings) in days.sorted(by: { $0.key < $1.key }) {
      await keep(sightings, day: day)
    }
  }

  /// Everything heard within the retention period, oldest day first.
  ///
  /// - Throws: `ENError.insufficientMemory` where that is more than `limit` sightings, as soon as a day
  ///   was read that does not fit: up to `limit` of them and that day's are in memory by then;
  ///   `SealedStorageError` where the disk does not give them.
  func sightings(atMost limit: Int = DeviceLimit.sightingsPerDetection) async throws -> [Sighting] {
    let oldest = Day(of: clock.now).first
    var sightings: [Sighting] = []
    for day in try await log.days() where day >= oldest {
      let segment = try await log.segment(of: day)
      if segment.damagedFrames > 0 { await setDamageAside(of: day, segment) }
      guard segment.records.count <= limit - sightings.count else { throw Self.tooMany(limit) }
      sightings += segment.records.compactMap { StoredSighting($0)?.sighting }
    }
    return sightings
  }

  private static func tooMany(_ limit: Int) -> ENError {
    ENError(
      .insufficientMemory,
      explanation: """
        More than \(limit) beacons were heard, too many to look through at once; try again when the \
        oldest days are over, or give the device a higher sightingsPerDetection.
        """)
  }

  /// Removes the days before the retention period.
  func prune(at now: Date) async {
    let oldest = Day(of: now).first
    guard oldest != pruned else { return }
    counts = counts.filter { $0.key >= oldest }
    do throws(SealedStorageError) {
      try await log.removeDays(before: oldest)
      pruned = oldest
    } catch {
      logger.warning("old contacts are still there, will try again: \(error)")
    }
  }

  /// Removes everything heard.
  func removeAll() async throws(SealedStorageError) {
    counts = [:]
    try await log.removeAll()
  }

  /// So that the damage is told once, and what is readable does not depend on the damaged file.
  private func setDamageAside(of day: UInt32, _ segment: LogSegment) async {
    logger.error(
      """
      \(segment.damagedFrames) scans of day \(day) are damaged and set aside; \
      \(segment.records.count) sightings of it are kept
      """)
    do throws(SealedStorageError) {
      try await log.setDamageAside(of: day)
    } catch {
      logger.warning("the damaged contacts of day \(day) stay where they are: \(error)")
    }
  }

  private func keep(_ sightings: [Sighting], day: Day) async {
    guard day.isKept(on: Day(of: clock.now)) else {
      logger.warning("\(sightings.count) sightings of another time are lost")
      return
    }
    do throws(SealedStorageError) {
      let count = try await count(of: day)
      let kept = sightings.prefix(ContactLimit.admitted(sightings.count, after: count))
      if kept.count < sightings.count {
        logger.warning("too much was heard, \(sightings.count - kept.count) sightings are lost")
      }
      try await log.append(kept.map { StoredSighting($0).record }, day: day.number)
      counts[day.number, default: count] += kept.count
    } catch {
      logger.warning("\(sightings.count) sightings are lost: \(error)")
    }
  }

  private func count(of day: Day) async throws(SealedStorageError) -> Int {
    if let known = counts[day.number] { return known }
    let found = try await log.segment(of: day.number).records.count
    counts[day.number] = found
    return found
  }
}
