// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Logging
import SealedStorage
import World

/// Receives other phones' beacons and stores them for 14 days in a sealed log, one segment per day, with
/// the times of all scans.
actor Contacts {
  private let radio: any Radio
  private let clock: any WallClock
  private let log: SealedLog
  /// Added to the stored signal strengths when they are read, in dB.
  private let receiverCorrection: Int8
  private let reports: DamageReports
  private let logger: Logger
  private var isListening = false
  /// The number of stored records by day, for days that this process has counted.
  private var counts: [UInt32: RecordCounts] = [:]
  /// The days that limited the retention period when other days were last removed.
  private var pruned: Set<Day> = []

  init(
    radio: any Radio, clock: any WallClock, log: SealedLog, receiverCorrection: Int8 = 0,
    reports: DamageReports, logger: Logger
  ) {
    self.radio = radio
    self.clock = clock
    self.log = log
    self.receiverCorrection = receiverCorrection
    self.reports = reports
    self.logger = logger
  }

  func listen() async {
    guard !isListening else { return }
    isListening = true
    await radio.listen { [weak self] scan in await self?.receive(scan) }
  }

  /// Stops listening. The stored sightings stay.
  func stop() async {
    guard isListening else { return }
    isListening = false
    await radio.stopListening()
  }

  /// Stores one scan with its sightings. On return it is on the disk; a failure is logged.
  func receive(_ scan: Scan) async { await receive([scan]) }

  /// Stores scans with their sightings, those of one day together. On return they are on the disk; a failure is logged.
  func receive(_ scans: [Scan]) async {
    guard isListening else { return }
    var days: [Day: [ScanPart]] = [:]
    for scan in scans {
      let day = Day(of: scan.time)
      guard scan.sightings.contains(where: { Day(of: $0.time) != day }) else {
        days[day, default: []].append(ScanPart(time: scan.time, sightings: scan.sightings))
        continue
      }
      var parts = Dictionary(grouping: scan.sightings) { Day(of: $0.time) }
      parts[day, default: []] += []
      for (part, sightings) in parts {
        let time = part == day ? scan.time : nil
        days[part, default: []].append(ScanPart(time: time, sightings: sightings))
      }
    }
    for (day, parts) in days.sorted(by: { $0.key < $1.key }) { await store(parts, day: day) }
  }

  /// All sightings and the times of all scans within the retention period, oldest day first.
  ///
  /// - Throws: `ENError.insufficientMemory` if there are more than `limit` sightings. It is thrown after
  ///   the first day that exceeds the limit was read, with at most `limit` sightings and those of that
  ///   day in memory. `SealedStorageError` if the disk cannot be read.
  func received(
    atMost limit: Int = DeviceLimit.sightingsPerDetection
  ) async throws -> ReceivedBeacons {
    let oldest = Day(of: clock.now).first
    var received = ReceivedBeacons()
    for day in try await log.days() where day >= oldest {
      let segment = try await log.segment(of: day)
      if segment.damagedFrames > 0 { await setDamageAside(of: day, segment) }
      let count = RecordCounts(of: segment).sightings
      guard count <= limit - received.sightings.count else { throw Self.tooMany(limit) }
      received.add(segment, correctedBy: receiverCorrection)
    }
    return received
  }

  private static func tooMany(_ limit: Int) -> ENError {
    ENError(
      .insufficientMemory,
      explanation: """
        More than \(limit) beacons are stored, too many for one detection; try again when the \
        oldest days are removed, or give the device a higher sightingsPerDetection.
        """)
  }

  /// The sightings of the retention period that were not stored, because they exceeded a limit.
  ///
  /// - Throws: `SealedStorageError` if the disk cannot be read.
  func droppedCount() async throws(SealedStorageError) -> Int {
    let oldest = Day(of: clock.now).first
    var count = 0
    for day in try await log.days() where day >= oldest {
      count += try await counts(of: Day(number: day)).dropped
    }
    return count
  }

  /// Removes the days outside the retention period.
  func prune(keeping period: RetentionPeriod) async {
    let days = Set(period.times.map(Day.init(of:)))
    guard days != pruned else { return }
    counts = counts.filter { period.keeps(Day(number: $0.key)) }
    do throws(SealedStorageError) {
      try await log.removeDays { !period.keeps(Day(number: $0)) }
      pruned = days
    } catch {
      logger.warning("removing old contacts failed: \(error); will try again")
    }
  }

  /// Removes all sightings.
  func removeAll() async throws(SealedStorageError) {
    counts = [:]
    try await log.removeAll()
  }

  /// Reports the damage, and then moves the readable frames to a new file, so that it is reported once.
  private func setDamageAside(of day: UInt32, _ segment: LogSegment) async {
    logger.warning(
      """
      \(segment.damagedFrames) scans of day \(day) are damaged; they are set aside and \
      \(RecordCounts(of: segment).sightings) sightings are kept
      """)
    do throws(SealedStorageError) {
      try reports.record(.contacts, day: Day(number: day))
      try await log.setDamageAside(of: day)
    } catch {
      logger.warning("setting the damaged contacts of day \(day) aside failed: \(error)")
    }
  }

  /// Stores the parts of scans that belong to `day`.
  private func store(_ parts: [ScanPart], day: Day) async {
    let sightingCount = parts.reduce(0) { $0 + $1.sightings.count }
    guard day.isKept(on: Day(of: clock.now)) else {
      logger.warning("\(sightingCount) sightings discarded: outside the retention period")
      return
    }
    do throws(SealedStorageError) {
      var counts = try await counts(of: day)
      var stored = counts
      var records = LogRecords()
      for part in parts {
        part.add(to: &records, &counts, logger)
        // One scan takes far less than the other half.
        guard records.byteCount > SealedLog.frameBytesMax / 2 else { continue }
        try await log.append(records, day: day.number)
        add(counts, since: stored, to: day)
        (stored, records) = (counts, LogRecords())
      }
      try await log.append(records, day: day.number)
      add(counts, since: stored, to: day)
    } catch {
      logger.warning("\(parts.count) scans with \(sightingCount) sightings lost: \(error)")
    }
  }

  /// Adds what was stored. Other scans may have been stored meanwhile.
  private func add(_ counts: RecordCounts, since earlier: RecordCounts, to day: Day) {
    var known = self.counts[day.number] ?? earlier
    known.sightings += counts.sightings - earlier.sightings
    known.scans += counts.scans - earlier.scans
    known.dropped += counts.dropped - earlier.dropped
    self.counts[day.number] = known
  }

  private func counts(of day: Day) async throws(SealedStorageError) -> RecordCounts {
    if let known = counts[day.number] { return known }
    let found = RecordCounts(of: try await log.segment(of: day.number))
    // Another scan may have been stored since.
    if let known = counts[day.number] { return known }
    counts[day.number] = found
    return found
  }
}

/// The part of a scan that belongs to one day.
private struct ScanPart {
  /// The start of the scan; nil if it belongs to another day.
  let time: Date?
  let sightings: [Sighting]

  /// Adds what is stored on a day that already has `counts`.
  func add(to records: inout LogRecords, _ counts: inout RecordCounts, _ logger: Logger) {
    let measured =
      sightings.allSatisfy(\.hasSignalStrength)
      ? sightings : sightings.filter(\.hasSignalStrength)
    let kept = ScanAdmission.admitted(
      measured, atMost: ContactLimit.admitted(measured.count, after: counts.sightings))
    let dropped = measured.count - kept.count
    if let time, counts.scans < ContactLimit.scansPerDay {
      StoredScan(time: time).add(to: &records)
      counts.scans += 1
    }
    for sighting in kept { StoredSighting(sighting).add(to: &records) }
    counts.sightings += kept.count
    guard dropped > 0 else { return }
    logger.warning("\(dropped) sightings discarded: limit reached")
    DroppedSightings(count: dropped).add(to: &records)
    counts.dropped += dropped
  }
}

/// The numbers of sightings and scans of a day that were stored, and of sightings that were not.
private struct RecordCounts {
  var sightings = 0
  var scans = 0
  var dropped = 0

  init(of segment: LogSegment) {
    segment.forEachRecord { record in
      if let drop = DroppedSightings(record) {
        dropped += drop.count
      } else if record.count == StoredScan.byteCount {
        scans += 1
      } else {
        sightings += 1
      }
    }
  }
}

/// The stored sightings and scans, as a detection uses them.
struct ReceivedBeacons: Equatable, Sendable {
  /// The sightings in the order of their storage.
  private(set) var sightings: [Sighting] = []
  /// The starts of all scans, also of those without a sighting, in the order of their storage.
  private(set) var scanTimes: [Date] = []

  /// Creates a recording without the times of scans.
  init(_ sightings: [Sighting] = []) {
    self.sightings = sightings
  }

  /// Adds the valid records of `segment`, with `decibels` added to the signal strengths.
  fileprivate mutating func add(_ segment: LogSegment, correctedBy decibels: Int8) {
    segment.forEachRecord { record in
      if let sighting = StoredSighting(record)?.sighting {
        if sighting.hasSignalStrength { sightings.append(sighting.corrected(by: decibels)) }
      } else if let scan = StoredScan(record) {
        scanTimes.append(scan.time)
      }
    }
  }
}
