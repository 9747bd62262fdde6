import ExposureKeys
import Foundation
import Logging
import SealedStorage
import World

/// Receives other phones' beacons and stores them for 14 days in a sealed log, one segment per day.
actor Contacts {
  private let radio: any Radio
  private let clock: any WallClock
  private let log: SealedLog
  private let reports: DamageReports
  private let logger: Logger
  private var isListening = false
  /// The stored sightings of each day, as far as this process has counted them.
  private var counts: [UInt32: Int] = [:]
  /// The days that limited the retention period when other days were last removed.
  private var pruned: Set<Day> = []

  init(
    radio: any Radio, clock: any WallClock, log: SealedLog, reports: DamageReports, logger: Logger
  ) {
    self.radio = radio
    self.clock = clock
    self.log = log
    self.reports = reports
    self.logger = logger
  }

  func listen() async {
    guard !isListening else { return }
    isListening = true
    await radio.listen { [weak self] sightings in await self?.receive(sightings) }
  }

  /// Stops listening. The stored sightings stay.
  func stop() async {
    guard isListening else { return }
    isListening = false
    await radio.stopListening()
  }

  /// Stores the sightings of one scan. On return they are on the disk; a failure is logged.
  func receive(_ sightings: [Sighting]) async {
    guard isListening else { return }
    let days = Dictionary(grouping: sightings) { Day(of: $0.time) }
    for (day, sightings) in days.sorted(by: { $0.key < $1.key }) {
      await store(sightings, day: day)
    }
  }

  /// All sightings within the retention period, oldest day first.
  ///
  /// - Throws: `ENError.insufficientMemory` if there are more than `limit` sightings. It is thrown after
  ///   the first day that exceeds the limit was read, with at most `limit` sightings and those of that
  ///   day in memory. `SealedStorageError` if the disk cannot be read.
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
        More than \(limit) beacons are stored, too many for one detection; try again when the \
        oldest days are removed, or give the device a higher sightingsPerDetection.
        """)
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
      \(segment.records.count) sightings are kept
      """)
    do throws(SealedStorageError) {
      try reports.record(.contacts, day: Day(number: day))
      try await log.setDamageAside(of: day)
    } catch {
      logger.warning("setting the damaged contacts of day \(day) aside failed: \(error)")
    }
  }

  private func store(_ sightings: [Sighting], day: Day) async {
    guard day.isKept(on: Day(of: clock.now)) else {
      logger.warning("\(sightings.count) sightings discarded: outside the retention period")
      return
    }
    do throws(SealedStorageError) {
      let count = try await count(of: day)
      let kept = sightings.prefix(ContactLimit.admitted(sightings.count, after: count))
      if kept.count < sightings.count {
        logger.warning("\(sightings.count - kept.count) sightings discarded: limit reached")
      }
      try await log.append(kept.map { StoredSighting($0).record }, day: day.number)
      counts[day.number, default: count] += kept.count
    } catch {
      logger.warning("\(sightings.count) sightings lost: \(error)")
    }
  }

  private func count(of day: Day) async throws(SealedStorageError) -> Int {
    if let known = counts[day.number] { return known }
    let found = try await log.segment(of: day.number).records.count
    counts[day.number] = found
    return found
  }
}

/// A sighting as one record of the sealed log, 30 bytes.
///
/// Version 1: the version, 16 bytes of identifier, 4 of metadata, the time as a 64-bit float of Unix
/// seconds (big endian), the signal strength in dBm.
struct StoredSighting {
  static let byteCount = 30
  private static let version: UInt8 = 1
  private static let time = 21..<29

  let sighting: Sighting

  init(_ sighting: Sighting) {
    self.sighting = sighting
  }

  /// Nil if the record is not valid.
  init?(_ record: Data) {
    let bytes = Array(record)
    guard bytes.count == Self.byteCount, bytes[0] == Self.version,
      let identifier = RollingProximityIdentifier(bytes: bytes[1..<17]),
      let metadata = AssociatedEncryptedMetadata(bytes: bytes[17..<21])
    else { return nil }
    let pattern = bytes[Self.time].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    self.init(
      Sighting(
        advertisement: Advertisement(identifier: identifier, metadata: metadata),
        time: Date(timeIntervalSince1970: Double(bitPattern: pattern)),
        signalStrength: Int8(bitPattern: bytes[29])))
  }

  var record: Data {
    let time = sighting.time.timeIntervalSince1970.bitPattern.bigEndian
    return Data([Self.version]) + sighting.advertisement.identifier.bytes
      + sighting.advertisement.metadata.bytes + withUnsafeBytes(of: time, Array.init)
      + [UInt8(bitPattern: sighting.signalStrength)]
  }
}
