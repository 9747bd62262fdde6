// SPDX-License-Identifier: Apache-2.0
import Canary
import ExposureApp
import Foundation
import KeyServer
import KeyServerAPI
import RiskRules
import ServerMetrics
import Simulation
import Synchronization
import TestSupport
import Testing
import VerificationServer
import World

/// The published failures of national services that the canary can find, injected into the servers. Each must be found
/// in the time of one round, five hours of virtual time.
@Suite("The canary")
struct CanaryRoundTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func failed(_ faults: CanaryScene.Faults) async throws -> CanaryRound.Result {
    var found: CanaryRound.Result?
    try await CanaryScene.round(faults, in: folder) { scene in
      found = scene.result
      #expect(scene.seconds <= CanaryLimits().noticeSecondsMax + CanaryLimits().checkSeconds)
    }
    return try #require(found)
  }

  /// The result with a wrong setting of the key server.
  private func failed(
    settings: @escaping (inout KeyServerConfiguration) -> Void
  ) async throws -> CanaryRound.Result {
    try await failed(CanaryScene.Faults(keys: settings))
  }

  /// The result if some paths have another response than that of the server.
  private func failed(
    response: @escaping @Sendable (String) -> NetworkResponse?
  ) async throws -> CanaryRound.Result {
    try await failed(
      CanaryScene.Faults(network: { FaultyNetwork(network: $0, response: response) }))
  }

  @Test("A round is complete within a period of key files, and no statistic counts it")
  func complete() async throws {
    try await CanaryScene.round(in: folder) { scene in
      #expect(scene.result.failed == nil, "\(scene.result)")
      #expect(scene.result.seconds <= 14_400 + CanaryLimits().checkSeconds)
      // Days later nothing of it is in the statistics of uploads and codes.
      scene.clock.advance(by: 4 * 86_400)
      let metrics = MetricsText(
        await scene.keyServer.families() + scene.verificationServer.families()
      ).text
      #expect(!metrics.contains("firebreak_statistics_uploads"))
      #expect(!metrics.contains("firebreak_statistics_codes{"))
      let index = try String(contentsOf: folder.path("exports/index.txt"), encoding: .utf8)
      #expect(index.isEmpty, "real phones see the canary: \(index)")
    }
  }

  @Test("COCOA, July 2020: tokens for another audience fail the upload")
  func audience() async throws {
    let result = try await failed(settings: { $0.tokenAudience = "another" })
    #expect(result.failed == .upload, "\(result)")
  }

  @Test("COCOA Android, September 2020: a transmission risk outside the expected form tells nobody")
  func transmissionRisk() async throws {
    let result = try await failed(settings: {
      $0.remoteConfiguration.version = 2
      $0.remoteConfiguration.exposureConfiguration.transmissionRiskScores =
        Array(repeating: 0, count: 8)
    })
    #expect(result.failed == .notice, "\(result)")
  }

  @Test("NHS, September 2020: thresholds that are too high tell nobody")
  func highThreshold() async throws {
    let result = try await failed(settings: {
      $0.remoteConfiguration.version = 2
      $0.remoteConfiguration.riskLevelConfiguration = RiskScoreThresholds(
        maxNoRiskScore: 4_094, maxLowRiskScore: 4_095, maxMiddleRiskScore: 4_096)
    })
    #expect(result.failed == .notice, "\(result)")
  }

  @Test("Koronavilkku, September 2020: a lost notice of a stored exposure fails the round")
  func lostNotice() async throws {
    let faults = CanaryScene.Faults(notices: { SimulatedNotices(losing: [.risk]) })
    let result = try await failed(faults)
    #expect(result.failed == .notice && result.reason.contains("differ"), "\(result)")
  }

  @Test("NHS, September 2020: a notice without an exposure in the app fails the round")
  func phantomNotice() async throws {
    let notices = SimulatedNotices()
    await notices.show(Notice(.risk(.high)))
    let result = try await failed(CanaryScene.Faults(notices: { notices }))
    #expect(result.failed == .notice && result.reason.contains("differ"), "\(result)")
  }

  @Test("NHS, September 2020: a notice to a passer-by without an exposure fails the round")
  func phantomNoticeOfPasser() async throws {
    let phantom = SimulatedNotices()
    await phantom.show(Notice(.risk(.high)))
    let phones = Mutex(0)
    let result = try await failed(
      CanaryScene.Faults(notices: {
        // The passer-by is the third one.
        let number = phones.withLock { count in
          count += 1
          return count
        }
        return number == 3 ? phantom : SimulatedNotices()
      }))
    #expect(result.failed == .silence && result.reason.contains("differ"), "\(result)")
  }

  @Test("Scotland, December 2020: thresholds that are too low tell a passer-by")
  func lowThreshold() async throws {
    let result = try await failed(settings: {
      $0.remoteConfiguration.version = 2
      $0.remoteConfiguration.riskLevelConfiguration = RiskScoreThresholds(
        maxNoRiskScore: 0, maxLowRiskScore: 1, maxMiddleRiskScore: 2)
      $0.remoteConfiguration.exposureConfiguration.durationScores = Array(repeating: 8, count: 8)
    })
    #expect(result.failed == .silence, "\(result)")
  }

  @Test(
    "Android, January 2021: a device configuration without the key of the files fails the checks")
  func missingKey() async throws {
    let result = try await failed(response: { path in
      path == KeyServerRoute.deviceConfiguration
        ? NetworkResponse(status: 200, body: Data("{}".utf8)) : nil
    })
    #expect(result.failed == .notice || result.failed == .upload, "\(result)")
  }

  @Test("Android, January 2021: key files that are not delivered fail the checks")
  func missingFiles() async throws {
    let result = try await failed(response: { path in
      path.hasSuffix(".zip") ? NetworkResponse(status: 503) : nil
    })
    #expect(result.failed == .notice, "\(result)")
  }

  @Test("TousAntiCovid, October 2020: a proxy that sends everybody away fails the round")
  func overloaded() async throws {
    let result = try await failed(response: { _ in NetworkResponse(status: 503) })
    #expect(result.failed == .code && result.reason.contains("503"), "\(result)")
  }

  @Test(
    "An index or a key file that only real phones use and do not get fails the round",
    arguments: [
      NetworkResponse(status: 404), NetworkResponse(status: 200, body: Data("<html>".utf8)),
      NetworkResponse(status: 200, body: Data("1600000000-1600014400-00001.zip\n".utf8)),
    ])
  func publicFiles(response: NetworkResponse) async throws {
    let result = try await failed(response: { path in
      path == KeyServerRoute.index ? response : nil
    })
    #expect(result.failed == .files, "\(result)")
  }

  @Test("An export that stops tells nobody")
  func stoppedExport() async throws {
    var faults = CanaryScene.Faults()
    faults.exports = false
    faults.keys = { $0.exportPeriodSeconds = 86_400 }
    let result = try await failed(faults)
    #expect(result.failed == .notice, "\(result)")
  }
}

@Suite("The record of the canary")
struct CanaryRecordTests {
  @Test(
    "A failure keeps the time of the last success, also after a restart; a success clears the failure"
  )
  func record() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("record.json")
    var record = CanaryRecord(in: file)
    #expect(MetricsText(record.families).text.contains("last_success_timestamp_seconds 0\n"))
    let told = CanaryRound.Result(failed: nil, reason: "", seconds: 9_000)
    record.add(told, at: Date(unixSecond: 1_000))
    record.add(
      CanaryRound.Result(failed: .upload, reason: "x", seconds: 0), at: Date(unixSecond: 2_000))
    try record.write(to: file)
    let text = MetricsText(CanaryRecord(in: file).families).text
    #expect(text.contains("firebreak_canary_last_success_timestamp_seconds 1000\n"))
    #expect(text.contains("firebreak_canary_last_round_timestamp_seconds 2000\n"))
    #expect(text.contains("firebreak_canary_failed{step=\"upload\"} 1\n"))
    #expect(text.contains("firebreak_canary_failed{step=\"notice\"} 0\n"))
    record.add(told, at: Date(unixSecond: 3_000))
    #expect(!MetricsText(record.families).text.contains("\"} 1\n"))
    try Data("damaged".utf8).write(to: file)
    #expect(CanaryRecord(in: file) == CanaryRecord())
  }
}
