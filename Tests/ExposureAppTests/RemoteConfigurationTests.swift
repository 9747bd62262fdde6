// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureNotification
import Foundation
import KeyServerAPI
import RiskRules
import Testing

@testable import ExposureApp

@Suite("Remote configuration") struct RemoteConfigurationTests {
  private func strict(version: Int) -> RemoteConfiguration {
    RemoteConfiguration(
      version: version,
      riskLevelConfiguration: RiskScoreThresholds(
        maxNoRiskScore: 10, maxLowRiskScore: 20, maxMiddleRiskScore: 30))
  }

  @Test("A signed configuration is accepted and used after the next launch")
  func taken() async throws {
    let phone = try TestApp()
    try phone.serve(strict(version: 3))
    let app = try await phone.launchedAfterFirstCheck()
    #expect(await app.riskRules.last?.scores == 31...4_096)
    #expect(try await phone.launch().riskRules.last?.scores == 31...4_096)
  }

  @Test("A configuration with a foreign signature or an older version is rejected")
  func refused() async throws {
    let phone = try TestApp()
    try phone.serve(strict(version: 3))
    let app = try await phone.launchedAfterFirstCheck()
    try phone.serve(.protegoDefault)
    #expect(await app.check() == .checked(.none))
    #expect(await app.riskRules.last?.scores == 31...4_096)
    try phone.serve(RemoteConfiguration(version: 9), signedBy: P256.Signing.PrivateKey())
    #expect(await app.check() == .checked(.none))
    #expect(await app.riskRules.last?.scores == 31...4_096)
  }

  @Test("Every scoring field is copied to its field in the framework's configuration")
  func fieldByField() throws {
    var scoring = RiskScoringParameters.protegoDefault
    scoring.minimumRiskScore = 7
    scoring.attenuationWeight = 11
    scoring.daysSinceLastExposureWeight = 12
    scoring.durationWeight = 13
    scoring.transmissionRiskWeight = 14
    scoring.attenuationScores = [0, 1, 2, 3, 4, 5, 6, 7]
    scoring.daysSinceLastExposureScores = [1, 2, 3, 4, 5, 6, 7, 8]
    scoring.durationScores = [8, 7, 6, 5, 4, 3, 2, 1]
    scoring.transmissionRiskScores = [1, 1, 2, 2, 3, 3, 4, 4]
    scoring.durationAtAttenuationThresholds = [33, 63]
    let configuration = scoring.frameworkConfiguration
    #expect(configuration.minimumRiskScore == 7)
    #expect(configuration.attenuationWeight == 11)
    #expect(configuration.daysSinceLastExposureWeight == 12)
    #expect(configuration.durationWeight == 13)
    #expect(configuration.transmissionRiskWeight == 14)
    #expect(configuration.attenuationLevelValues.map(\.intValue) == [0, 1, 2, 3, 4, 5, 6, 7])
    #expect(
      configuration.daysSinceLastExposureLevelValues.map(\.intValue) == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(configuration.durationLevelValues.map(\.intValue) == [8, 7, 6, 5, 4, 3, 2, 1])
    #expect(configuration.transmissionRiskLevelValues.map(\.intValue) == [1, 1, 2, 2, 3, 3, 4, 4])
    let thresholds = configuration.metadata?["attenuationDurationThresholds"] as? [NSNumber]
    #expect(thresholds?.map(\.intValue) == [33, 63])
  }
}
