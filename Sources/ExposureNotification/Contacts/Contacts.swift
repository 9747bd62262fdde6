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
  func receive(_ scan: Scan) async {
    guard isListening else { return }
    var days = Dictionary(grouping: scan.sightings) { Day(of: $0.time) }
    days[Day(of: scan.time), default: []] += []
    for (day, sightings) in days.sorted(by: { $0.key < $1.key }) {
      await store(sightings, of: scan, day: day)
    }
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

  /// Stores those sightings of `scan` that belong to `day`, and the time of the scan with its day.
  private func store(_ sightings: [Sighting], of scan: Scan, day: Day) async {
    guard day.isKept(on: Day(of: clock.now)) else {
      logger.warning("\(sightings.count) sightings discarded: outside the retention period")
      return
    }
    do throws(SealedStorageError) {
      let counts = try await counts(of: day)
      let measured = sightings.filter(\.hasSignalStrength)
      let kept = ScanAdmission.admitted(
        measured, atMost: ContactLimit.admitted(measured.count, after: counts.sightings))
      let dropped = measured.count - kept.count
      if dropped > 0 { logger.warning("\(dropped) sightings discarded: limit reached") }
      let hasTime = Day(of: scan.time) == day && counts.scans < ContactLimit.scansPerDay
      let records =
        (hasTime ? [StoredScan(time: scan.time).record] : [])
        + kept.map { StoredSighting($0).record }
        + (dropped > 0 ? [DroppedSightings(count: dropped).record] : [])
      try await log.append(records, day: day.number)
      self.counts[day.number, default: counts].add(records)
    } catch {
      logger.warning("a scan with \(sightings.count) sightings lost: \(error)")
    }
  }

  private func counts(of day: Day) async throws(SealedStorageError) -> RecordCounts {
    if let known = counts[day.number] { return known }
    let found = RecordCounts(of: try await log.segment(of: day.number))
    counts[day.number] = found
    return found
  }
}

/// The numbers of sightings and scans of a day that were stored, and of sightings that were not.
private struct RecordCounts {
  private(set) var sightings = 0
  private(set) var scans = 0
  private(set) var dropped = 0

  init(of segment: LogSegment) {
    add(segment.records)
  }

  mutating func add(_ records: [Data]) {
    for record in records {
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
    for record in segment.records {
      if let sighting = StoredSighting(record)?.sighting, sighting.hasSignalStrength {
        sightings.append(sighting.corrected(by: decibels))
      } else if let scan = StoredScan(record) {
        scanTimes.append(scan.time)
      }
    }
  }
}

/// The time of a scan as one record of the sealed log, 9 bytes: the kind 2, and the time as a 64-bit float
/// of Unix seconds (big endian). Every scan has one, also an empty one.
struct StoredScan {
  static let byteCount = 9
  private static let kind: UInt8 = 2

  let time: Date

  init(time: Date) {
    self.time = time
  }

  /// Nil if the record is not valid.
  init?(_ record: Data) {
    guard record.count == Self.byteCount, record.first == Self.kind else { return nil }
    time = Date(storedBytes: record.dropFirst())
  }

  var record: Data { Data([Self.kind]) + time.storedBytes }
}

/// The number of sightings of a scan that exceeded a limit, as one record of the sealed log, 5 bytes: the kind 3, and
/// the number as 32 bits (big endian).
struct DroppedSightings {
  static let byteCount = 5
  private static let kind: UInt8 = 3

  let count: Int

  init(count: Int) {
    self.count = count
  }

  /// Nil if the record is not valid.
  init?(_ record: Data) {
    guard record.count == Self.byteCount, record.first == Self.kind else { return nil }
    count = record.dropFirst().reduce(0) { $0 << 8 | Int($1) }
  }

  var record: Data {
    Data([Self.kind]) + withUnsafeBytes(of: UInt32(clamping: count).bigEndian, Array.init)
  }
}

extension Date {
  /// The eight bytes of a time in a record.
  fileprivate var storedBytes: [UInt8] {
    withUnsafeBytes(of: timeIntervalSince1970.bitPattern.bigEndian, Array.init)
  }

  fileprivate init(storedBytes: some Sequence<UInt8>) {
    let pattern = storedBytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    self.init(timeIntervalSince1970: Double(bitPattern: pattern))
  }
}

/// A sighting as one record of the sealed log, 30 bytes.
///
/// The kind 1, 16 bytes of identifier, 4 of metadata, the time as a 64-bit float of Unix seconds (big
/// endian), the signal strength in dBm as received.
struct StoredSighting {
  static let byteCount = 30
  private static let kind: UInt8 = 1
  private static let time = 21..<29

  let sighting: Sighting

  init(_ sighting: Sighting) {
    self.sighting = sighting
  }

  /// Nil if the record is not valid.
  init?(_ record: Data) {
    let bytes = Array(record)
    guard bytes.count == Self.byteCount, bytes[0] == Self.kind,
      let identifier = RollingProximityIdentifier(bytes: bytes[1..<17]),
      let metadata = AssociatedEncryptedMetadata(bytes: bytes[17..<21])
    else { return nil }
    self.init(
      Sighting(
        advertisement: Advertisement(identifier: identifier, metadata: metadata),
        time: Date(storedBytes: bytes[Self.time]), signalStrength: Int8(bitPattern: bytes[29])))
  }

  var record: Data {
    Data([Self.kind]) + sighting.advertisement.identifier.bytes
      + sighting.advertisement.metadata.bytes + sighting.time.storedBytes
      + [UInt8(bitPattern: sighting.signalStrength)]
  }
}
