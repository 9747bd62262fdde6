// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

struct DetectionTests {
  private let authority: Authority

  init() throws {
    authority = try Authority()
  }

  private func detection(
    _ files: [URL], sightings: [Sighting], version: Int = 1, progress: Progress = Progress(),
    verificationKeys: [VerificationPublicKey]? = nil,
    _ change: (ENExposureConfiguration) -> Void = { _ in }
  ) throws -> Detection {
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [0: 1]
    change(configuration)
    return try Detection(
      configuration: configuration, keyFiles: files,
      verificationKeys: try verificationKeys ?? authority.verificationKeys, sightings: sightings,
      now: BeaconSender.midnight.date.addingTimeInterval(2 * 86_400), apiVersion: version,
      secret: .ofTests, progress: progress)
  }

  private func code(of work: () throws -> Void) -> ENError.Code? {
    do {
      try work()
      return nil
    } catch {
      return (error as? ENError)?.code
    }
  }

  @Test("A signed file with a received key gives an exposure with its score")
  func exposure() throws {
    let user = try BeaconSender(risk: 7)
    let file = try authority.publish([user.key, try BeaconSender(2).key])
    let progress = Progress()
    let result = try detection(
      [file], sightings: user.stay(scans: 3, attenuation: 40), progress: progress
    ).run()
    #expect(result.matchedKeyCount == 1)
    let score: Double = 8 * 4 * 7 * 4
    #expect(result.infos.map(\.totalRiskScoreFullRange) == [score])
    #expect(result.summary.daysSinceLastExposure == 2)
    #expect(result.windows.isEmpty)
    #expect(progress.totalUnitCount == 1 && progress.isFinished)
  }

  @Test("Version 2 gives windows and day summaries instead of exposures")
  func windows() throws {
    let user = try BeaconSender(daysSinceOnset: 0)
    let other = try BeaconSender(2)
    let file = try authority.publish([user.key, other.key])
    let received = user.stay(scans: 9, attenuation: 40) + other.stay(scans: 2)
    let result = try detection([file], sightings: received, version: 2).run()
    #expect(result.windows.map(\.scanInstances.count) == [6, 3])
    #expect(result.windows.allSatisfy { $0.diagnosisReportType == .confirmedTest })
    #expect(result.infos.isEmpty)
    #expect(result.matchedKeyCount == 1)
    #expect(result.summary.daySummaries.map(\.date) == [BeaconSender.midnight.date])
    #expect(result.summary.daySummaries.first?.daySummary.scoreSum == 2_520.0)
    #expect(result.summary.attenuationDurations.isEmpty)
    #expect(result.summary.daysSinceLastExposure == 2)
  }

  @Test("A detection without files finds nothing")
  func noFiles() throws {
    let result = try detection([], sightings: try BeaconSender().stay(scans: 3)).run()
    #expect(result.matchedKeyCount == 0)
    #expect(result.summary.attenuationDurations == [0, 0, 0, 0])
  }

  @Test("A key in two files counts once")
  func sameKeyTwice() throws {
    let user = try BeaconSender()
    let files = try ["1.zip", "2.zip"].map { try authority.publish([user.key], as: $0) }
    let result = try detection(files, sightings: user.stay(scans: 1)).run()
    #expect(result.matchedKeyCount == 1)
    #expect(result.infos.count == 1)
  }

  @Test("A diagnosis that a later file revokes is removed")
  func withdrawn() throws {
    let user = try BeaconSender(reportType: .selfReport)
    let revoked = try BeaconSender(reportType: .revoked)
    let first = try authority.publish([user.key], as: "1.zip")
    let second = try authority.publish([], revised: [revoked.key], as: "2.zip")
    let received = user.stay(scans: 1)
    #expect(try detection([first], sightings: received).run().matchedKeyCount == 1)
    #expect(try detection([first, second], sightings: received).run().matchedKeyCount == 0)
  }

  @Test("One invalid file fails the whole detection", arguments: [0, 1, 2])
  func badFile(place: Int) throws {
    let user = try BeaconSender()
    var files = try (0..<3).map { try authority.publish([user.key], as: "\($0).zip") }
    files[place] = try damaged(files[place])
    #expect(
      code { _ = try detection(files, sightings: user.stay(scans: 1)).run() } == .badFormat)
  }

  @Test("A file with another authority's signature is rejected")
  func foreignSignature() throws {
    let user = try BeaconSender()
    let file = try authority.publish([user.key])
    let others = try Authority().verificationKeys
    for keys in [others, []] {
      let detection = try detection(
        [file], sightings: user.stay(scans: 1), verificationKeys: keys)
      #expect(code { _ = try detection.run() } == .badFormat)
    }
  }

  @Test("A missing file fails the detection")
  func missingFile() throws {
    let detection = try detection([authority.folder.path("none.zip")], sightings: [])
    #expect(code { _ = try detection.run() } == .badFormat)
  }

  @Test("A signature without its export is rejected, and a pair counts as one file")
  func pairs() throws {
    let bin = authority.folder.path("export.bin")
    let sig = authority.folder.path("export.sig")
    #expect(code { _ = try detection([sig], sightings: []) } == .badFormat)
    let progress = Progress()
    let pair = try detection([sig, bin], sightings: [], progress: progress)
    #expect(code { _ = try pair.run() } == .badFormat)
    #expect(progress.totalUnitCount == 1)
  }

  @Test("A cancelled detection throws and returns no result")
  func cancelled() throws {
    let user = try BeaconSender()
    let file = try authority.publish([user.key])
    let progress = Progress()
    let detection = try detection([file], sightings: user.stay(scans: 1), progress: progress)
    progress.cancel()
    #expect(throws: CancellationError.self) { try detection.run() }
    #expect(progress.completedUnitCount == 0)
  }

  @Test("All keys of a file with several batches are searched")
  func manyBatches() throws {
    let user = try BeaconSender(255)
    let start = BeaconSender.midnight.rawValue - 14 * 144
    let others = try (0..<2 * MatchLimit.keysPerBatch).compactMap { number in
      let bytes = [UInt8(number >> 8), UInt8(number & 0xff)] + [UInt8](repeating: 0, count: 14)
      let key = TemporaryExposureKey(bytes: bytes, rollingStart: IntervalNumber(rawValue: start))
      return DiagnosisKey(key: try required(key))
    }
    let file = try authority.publish(others + [user.key])
    #expect(try detection([file], sightings: user.stay(scans: 1)).run().matchedKeyCount == 1)
  }

  @Test("An invalid configuration is rejected before a file is read")
  func badConfiguration() throws {
    let bad = code {
      _ = try detection([], sightings: []) { $0.durationLevelValues = [1] }
    }
    #expect(bad == .badParameter)
  }

  /// Changes one byte in the middle of the file.
  private func damaged(_ file: URL) throws -> URL {
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: file)
    return file
  }
}
