// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import Terminal
import TextEncodings
import World

/// The published keys and the sightings of a bench.
///
/// Keys and sightings are functions of their number and the seed, so a workload of any size takes no memory.
package struct MatchWorkload: Sendable {
  package static let days = 14
  static let keysPerFile = 500_000
  /// One of this many keys has a sighting.
  static let keysPerMatch = 10_000
  /// The first interval of the first day, 2020-08-26.
  static let firstInterval: UInt32 = 18_500 * IntervalNumber.perDay

  package let keyCount: Int
  package let sightingCount: Int
  let random: IndexedRandom

  package init(keys: Int, sightings: Int, seed: UInt64) {
    keyCount = keys
    sightingCount = sightings
    random = IndexedRandom(seed: seed)
  }

  /// The number of keys with a sighting; at least one, so that a matcher that finds nothing fails.
  var plantedCount: Int { Self.plantedCount(ofKeys: keyCount) }

  static func plantedCount(ofKeys count: Int) -> Int { max(1, count / keysPerMatch) }
}

extension MatchWorkload {
  /// The key numbers of each file.
  var files: [Range<Int>] {
    stride(from: 0, to: keyCount, by: Self.keysPerFile).map {
      $0..<min($0 + Self.keysPerFile, keyCount)
    }
  }

  /// The key with this number. Keys ascend within a file, as in real exports.
  package func key(_ number: Int) -> DiagnosisKey? {
    TemporaryExposureKey(bytes: keyBytes(number), rollingStart: rollingStart(ofKey: number))
      .flatMap { key in
        let risk = random.bits(.risk, number)
        return DiagnosisKey(
          key: key, transmissionRiskLevel: 1 + UInt8(risk % 8), reportType: .confirmedTest,
          daysSinceOnsetOfSymptoms: Int32(risk >> 8 & 15) - 3)
      }
  }

  func rollingStart(ofKey number: Int) -> IntervalNumber {
    IntervalNumber(
      rawValue: Self.firstInterval + UInt32(day(ofKey: number)) * IntervalNumber.perDay)
  }

  /// The day of a key: 14 consecutive keys have 14 different days, in a varying order.
  func day(ofKey number: Int) -> Int {
    let (row, place) = number.quotientAndRemainder(dividingBy: Self.days)
    let bits = random.bits(.day, row)
    let step = Self.steps[Int(bits % UInt64(Self.steps.count))]
    return (step * place + Int(bits >> 32 % UInt64(Self.days))) % Self.days
  }

  /// Numbers coprime to the number of days.
  private static let steps = [1, 3, 5, 9, 11, 13]

  private func keyBytes(_ number: Int) -> [UInt8] {
    let file = number / Self.keysPerFile * Self.keysPerFile
    let width = UInt64.max / UInt64(min(Self.keysPerFile, keyCount - file))
    let head = UInt64(number - file) * width + random.bits(.keyHead, number) % width
    return Self.bytes(head, random.bits(.keyTail, number))
  }

  static func bytes(_ head: UInt64, _ tail: UInt64) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      let raw = UnsafeMutableRawBufferPointer(buffer)
      raw.storeBytes(of: head.bigEndian, toByteOffset: 0, as: UInt64.self)
      raw.storeBytes(of: tail.bigEndian, toByteOffset: 8, as: UInt64.self)
      count = 16
    }
  }
}

extension MatchWorkload {
  /// The sightings in order of time.
  package var sightings: some Sequence<Sighting> {
    (0..<sightingCount).lazy.map(sighting)
  }

  /// The sighting with this number; it matches a planted key or none.
  func sighting(_ number: Int) -> Sighting {
    if let planted = plantedSighting(number) { return planted }
    let identifier = Self.bytes(
      random.bits(.identifierHead, number), random.bits(.identifierTail, number))
    let metadata = Self.bytes(0, random.bits(.metadata, number)).suffix(4)
    guard let identifier = RollingProximityIdentifier(bytes: identifier),
      let metadata = AssociatedEncryptedMetadata(bytes: metadata)
    else { preconditionFailure("identifiers have 16 bytes, metadata has 4") }
    return sighting(
      number, Advertisement(identifier: identifier, metadata: metadata), at: second(number))
  }

  /// The number of the key behind a sighting; nil if it matches none.
  func plantedKey(ofSighting number: Int) -> Int? {
    // The sightings are divided into equal parts, each with a planted sighting in its middle.
    func part(_ number: Int) -> Int {
      (2 * number * plantedCount + sightingCount) / (2 * sightingCount)
    }
    guard part(number) < part(number + 1) else { return nil }
    return plantedKey(part(number), onDay: Int(second(number)) / Self.secondsPerDay)
  }

  /// The keys are divided into equal parts, too. Of 28 consecutive keys at least one has the sighting's day, unless the
  /// part is smaller.
  private func plantedKey(_ planted: Int, onDay sightingDay: Int) -> Int {
    let first = planted * keyCount / plantedCount
    let count = (planted + 1) * keyCount / plantedCount - first
    let start = random.number(.plantedKey, planted, below: count)
    let near = (0..<2 * Self.days).lazy.map { first + (start + $0) % count }
    return near.first { day(ofKey: $0) == sightingDay } ?? first + start
  }

  private func plantedSighting(_ number: Int) -> Sighting? {
    guard let (key, sent) = planted(number) else { return nil }
    let schedule = KeySchedule(key)
    let identifier = schedule.identifier(at: sent)
    let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
    // If no key of the part has the sighting's day, the sighting moves to the key's.
    let isNear = sent.distance(to: receivedInterval(number)) <= Matcher.toleranceIntervals
    let moment =
      isNear ? second(number) : UInt64(sent.date.unixSecond) - Self.firstSecond
    return sighting(number, Advertisement(identifier: identifier, metadata: metadata), at: moment)
  }

  /// The key behind a sighting and the interval of its identifier; nil if it matches none.
  private func planted(_ number: Int) -> (key: TemporaryExposureKey, sent: IntervalNumber)? {
    guard let key = plantedKey(ofSighting: number).flatMap(key)?.key else { return nil }
    return (key, interval(of: key, near: receivedInterval(number).rawValue, number))
  }

  /// The match that a correct matcher reports for a sighting; nil if there is none.
  func plantedMatch(_ number: Int) -> MatchResult.Match? {
    planted(number).map { key, sent in
      MatchResult.Match(
        key: key.secretBytes.hexadecimal, interval: sent.rawValue,
        second: Int(sighting(number).time.unixSecond))
    }
  }

  private func receivedInterval(_ number: Int) -> IntervalNumber {
    IntervalNumber(
      rawValue: Self.firstInterval + UInt32(second(number) / UInt64(IntervalNumber.seconds)))
  }

  /// An interval of `key` within two hours of the sighting.
  private func interval(
    of key: TemporaryExposureKey, near received: UInt32, _ number: Int
  ) -> IntervalNumber {
    let reach = Matcher.toleranceIntervals
    let moved =
      received - reach + UInt32(random.number(.plantedInterval, number, below: 2 * Int(reach) + 1))
    let first = key.rollingStart.rawValue
    return IntervalNumber(rawValue: min(max(moved, first), key.rollingEnd.rawValue - 1))
  }

  private func sighting(
    _ number: Int, _ advertisement: Advertisement, at second: UInt64
  ) -> Sighting {
    Sighting(
      advertisement: advertisement,
      time: Date(unixSecond: Self.firstSecond + second),
      signalStrength: -45 - Int8(random.number(.strength, number, below: 50)))
  }

  /// The time of a sighting in seconds since the start of the first day: random within its equal share.
  private func second(_ number: Int) -> UInt64 {
    let all = UInt64(Self.days * Self.secondsPerDay) << 20
    let share = all / UInt64(sightingCount)
    return (UInt64(number) * share + random.bits(.moment, number) % share) >> 20
  }

  static let secondsPerDay = 86_400
  static let firstSecond = UInt64(firstInterval) * UInt64(IntervalNumber.seconds)
}

/// Writes a workload as files: signed key files, the public key, and the sightings as a CSV.
///
/// The signing key is generated and not stored. Memory does not grow with the workload.
struct WorkloadFiles {
  static let keyID = "260"
  static let keyVersion = "v1"
  static let region = "PL"
  static let publicKeyName = "public.pem"
  static let sightingsName = "sightings.csv"

  /// The key files, in order.
  private(set) var keyFiles: [URL] = []
  /// The public key of the signatures, in PEM.
  let publicKeyPEM: String

  private let folder: BenchFolder
  private let signer: KeyFileSigner

  init(in folder: BenchFolder) throws {
    self.folder = folder
    signer = try KeyFileSigner(
      privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: Self.keyID,
      keyVersion: Self.keyVersion)
    publicKeyPEM = signer.publicKeyPEM
  }

  /// Writes all keys as zips, or as unzipped exports with detached signatures.
  mutating func writeKeys(
    of workload: MatchWorkload, unzipped: Bool, progress: @escaping (Int) -> Void
  ) throws {
    for (index, keys) in workload.files.enumerated() {
      keyFiles.append(
        try write(keys, of: workload, number: index + 1, unzipped: unzipped, progress: progress))
    }
  }

  /// Writes the public key and the sightings, for other matchers.
  func writeSightings(of workload: MatchWorkload, progress: (Int) -> Void) throws {
    try Data(publicKeyPEM.utf8).write(to: try folder.newFile(Self.publicKeyName))
    let sightings = try folder.newFile(Self.sightingsName)
    try Data().write(to: sightings)
    let file = try FileHandle(forWritingTo: sightings)
    var text = SightingsCSV.header + "\n"
    for (count, sighting) in workload.sightings.enumerated() {
      text += SightingsCSV.row(sighting) + "\n"
      guard text.utf8.count >= Self.chunkByteCount else { continue }
      try file.write(contentsOf: Data(text.utf8))
      text = ""
      progress(count)
    }
    try file.write(contentsOf: Data(text.utf8))
  }

  /// The public key in the form of a phone's configuration.
  var verificationKey: VerificationPublicKey {
    get throws {
      try VerificationPublicKey(
        keyID: Self.keyID, keyVersion: Self.keyVersion, publicKeyPEM: publicKeyPEM)
    }
  }

  private static let chunkByteCount = 64 << 10

  private func write(
    _ numbers: Range<Int>, of workload: MatchWorkload, number: Int, unzipped: Bool,
    progress: @escaping (Int) -> Void
  ) throws -> URL {
    let stem = "keys-" + String(repeating: "0", count: max(0, 5 - "\(number)".count)) + "\(number)"
    let url = try folder.newFile(stem + (unzipped ? ".bin" : ".zip"))
    let keys = numbers.lazy.compactMap { number in
      if number.isMultiple(of: Self.keysPerProgress) { progress(number) }
      return workload.key(number)
    }
    // Files of one batch have different end times, as those of Google's server.
    let start = MatchWorkload.firstSecond
    let end = start + UInt64(MatchWorkload.days * MatchWorkload.secondsPerDay + number)
    if unzipped {
      try KeyFileWriter.writePair(
        to: url, start: start, end: end, region: Self.region, keys: keys, signers: [signer])
    } else {
      try KeyFileWriter.write(
        to: url, start: start, end: end, region: Self.region, keys: keys, signers: [signer])
    }
    return url
  }

  private static let keysPerProgress = 20_000
}

/// Random bits by index: the same seed, stream and index give the same 64 bits, in any order of access.
///
/// The output function of SplitMix64. Bits of different indices of a stream are distinct. Not for real keys.
struct IndexedRandom: Sendable {
  /// The purpose of the bits; streams are independent of each other.
  enum Stream: UInt64 {
    case keyHead, keyTail, day, risk, identifierHead, identifierTail, metadata, moment
    case strength, plantedKey, plantedInterval
  }

  private static let streams: UInt64 = 16
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
  }

  /// The bits of `stream` at `index`, which must not be negative.
  func bits(_ stream: Stream, _ index: Int) -> UInt64 {
    let place = UInt64(index) &* Self.streams &+ stream.rawValue
    return Self.mixed(Self.mixed(seed) &+ place &* 0x9e37_79b9_7f4a_7c15)
  }

  /// A number in `0..<count`.
  func number(_ stream: Stream, _ index: Int, below count: Int) -> Int {
    Int(bits(stream, index).multipliedFullWidth(by: UInt64(count)).high)
  }

  private static func mixed(_ bits: UInt64) -> UInt64 {
    var bits = bits
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return bits ^ bits >> 31
  }
}
