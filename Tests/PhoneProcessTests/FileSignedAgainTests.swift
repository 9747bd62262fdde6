// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import Foundation
import KeyServerAPI
import RiskRules
import TestSupport
import Testing
import World

@testable import PhoneProcess

@Suite("A key file that is signed again", .timeLimit(.minutes(Patience.minutes)))
struct FileSignedAgainTests {
  /// Hears seven scans of a phone nearby on the day before, and returns its key.
  private func meet(_ phone: Phone, in scene: PhoneScene) async throws -> TemporaryExposureKey {
    let day = Date(unixDay: scene.clock.now.unixDay - 1)
    let start = try #require(IntervalNumber(day))
    let key = try #require(
      TemporaryExposureKey(
        bytes: SystemRandomness().bytes(16), rollingStart: start, rollingPeriod: 144))
    let schedule = KeySchedule(key)
    let scans = try (0...6).map { index in
      let time = day.addingTimeInterval(36_000 + 300 * Double(index))
      let identifier = schedule.identifier(at: try #require(IntervalNumber(time)))
      let metadata = schedule.seal(BluetoothMetadata(.unknownModel), beside: identifier)
      return HeardScan(
        time: time.unixSecond,
        beacons: [.init(bytes: Data(identifier.bytes + metadata.bytes), signalStrength: -40)])
    }
    #expect(try await phone.facts(.hear(scans)).status == .done)
    return key
  }

  @Test(
    "On the next two days it changes neither the exposures nor the risk nor the notices",
    arguments: [1, 2])
  func unchanged(version: Int) async throws {
    let windowRisk = version == 2 ? try WindowRiskAssessment(WindowRiskConfiguration.standard) : nil
    let scene = try PhoneScene()
    let phone = try scene.phone(windowRisk: windowRisk)
    await phone.start()
    #expect(try await phone.facts(.enable).status == .done)
    #expect(try await phone.facts(.check).status == .done)
    let key = try await meet(phone, in: scene)
    let end = scene.clock.now.unixSecond
    var exposures: [NSDictionary] = []
    for edition in 1...3 {
      if edition > 1 { scene.clock.advance(by: 86_400) }
      try scene.publishConfiguration(version: edition + 1)
      let name = try scene.publishFile(with: key, end: end, edition: edition)
      scene.server.publish(KeyFileIndex.render([name]), at: KeyServerRoute.index)
      let phone = try scene.phone(windowRisk: windowRisk)
      await phone.start()
      let check = try await phone.facts(.check)
      #expect(check.status == .done, "\(check.json)")
      #expect(scene.server.requests(for: name.text).count == 1)
      let found = try await phone.facts(.exposures).json
      exposures.append(found as NSDictionary)
      #expect((found["exposures"] as? [Any])?.count == 1)
      let status = try await phone.facts(.status).json
      #expect(status["riskLevel"] as? Int ?? 0 > 0 && status["exposures"] as? Int == 1)
      let notices = try await phone.facts(.history).json["notices"] as? [[String: Any]]
      #expect(notices?.compactMap { $0["identifier"] as? String } == ["risk"])
    }
    #expect(exposures.allSatisfy { $0 == exposures[0] })
  }
}
