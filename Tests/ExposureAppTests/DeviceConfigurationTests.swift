// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureNotification
import Foundation
import KeyServerAPI
import RiskRules
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Device configuration of an app") struct DeviceConfigurationTests {
  @Test("A new phone learns the keys before its first check, and a restart uses them")
  func learned() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    #expect(await app.deviceConfiguration == (try phone.document()))
    #expect(phone.trust.keys == (try phone.document().keys))
    phone.network.script(TestApp.deviceConfigurationPath, .fails(.unreachable))
    phone.publish(0..<1)
    let again = try phone.launch()
    #expect(await again.deviceConfiguration?.version == 1)
    #expect(await again.check() == .checked(.none))
  }

  @Test("Without any document nothing is downloaded, and the failure names the reason")
  func none() async throws {
    let phone = try TestApp()
    phone.publish(0..<1)
    let cases: [(ScriptedNetwork.Reply, CheckFailure)] = [
      (.fails(.unreachable), .noConnection), (.response(503), .serverBusy),
      (.text("<html></html>"), .portal), (.text("document"), .notConfigured),
    ]
    let app = try phone.launch()
    for (reply, failure) in cases {
      phone.network.script(TestApp.deviceConfigurationPath, reply)
      #expect(await app.check() == .failed(failure))
      // After 503 the app pauses.
      phone.clock.advance(by: 3_600)
    }
    #expect(await app.configurationRefusal == .malformed)
    #expect(phone.network.requests(for: "/index.txt").isEmpty)
    #expect(phone.script.state.detections.isEmpty)
  }

  @Test(
    "A forged, rolled back or expired document is refused with its reason, and the current one stays"
  )
  func refused() async throws {
    let phone = try TestApp()
    try phone.serve(try phone.document(version: 5))
    let app = try await phone.launchedAfterFirstCheck()
    let current = try phone.document(version: 5)
    var expired = try phone.document(version: 6)
    expired.expires = Int64(phone.clock.now.timeIntervalSince1970)
    expired.issued = expired.expires - 10
    let documents: [(DeviceConfiguration, RootPrivateKey?, DeviceConfigurationError)] = [
      (try phone.document(version: 9), RootPrivateKey(), .wrongSignature),
      (try phone.document(version: 4), nil, .rolledBack(version: 4, current: 5)),
      (expired, nil, .expired(expired.expires)),
    ]
    for (document, key, reason) in documents {
      try phone.serve(document, signedBy: key)
      #expect(await app.check() == .checked(.none))
      #expect(await app.configurationRefusal == reason)
      #expect(try await phone.launch().currentState.configurationRefusal == reason)
      #expect(await app.deviceConfiguration == current)
      #expect(reason.description.hasPrefix("Device configuration rejected"))
    }
    try phone.serve(try phone.document(version: 6))
    #expect(await app.check() == .checked(.none))
    #expect(await app.configurationRefusal == nil)
    #expect(await app.deviceConfiguration?.version == 6)
  }

  @Test(
    "The framework gets the keys that are valid now; without one the check fails before a download")
  func validity() async throws {
    let phone = try TestApp()
    let now = Int64(phone.clock.now.timeIntervalSince1970)
    var document = try phone.document()
    let pem = document.keys[0].publicKey
    document.keys = [
      .init(keyID: "260", keyVersion: "v1", publicKey: pem, validThru: now + 100),
      .init(keyID: "260", keyVersion: "v2", publicKey: pem, validFrom: now + 50),
    ]
    try phone.serve(document)
    let app = try await phone.launchedAfterFirstCheck()
    #expect(phone.trust.keys.map(\.keyVersion) == ["v1"])
    phone.clock.advance(by: 60)
    _ = await app.check()
    #expect(phone.trust.keys.map(\.keyVersion) == ["v1", "v2"])
    document.version = 2
    document.keys.removeLast()
    try phone.serve(document)
    phone.clock.advance(by: 40)
    let indexes = phone.network.requests(for: "/index.txt").count
    #expect(await app.check() == .failed(.notConfigured))
    #expect(phone.network.requests(for: "/index.txt").count == indexes)
  }

  @Test("A document of another root key does not count, whatever its version")
  func otherRoot() async throws {
    let phone = try TestApp()
    try phone.serve(try phone.document(version: 50))
    _ = try await phone.launchedAfterFirstCheck()
    let other = RootPrivateKey()
    phone.rootKey = other.rootKey
    let app = try phone.launch()
    #expect(await app.deviceConfiguration == nil)
    try phone.serve(try phone.document(version: 1), signedBy: other)
    #expect(await app.check() == .checked(.none))
    #expect(await app.deviceConfiguration?.version == 1)
  }

  @Test("A pause stops checks and uploads; afterwards every wanted file is analysed")
  func pause() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3)
    var paused = try phone.document(version: 2)
    let end = paused.issued + 3_600
    paused.pause = DeviceConfiguration.Pause(until: end)
    try phone.serve(paused)
    let before = await app.cursor
    let fetched = phone.network.requests(for: "/index.txt").count
    #expect(await app.check() == .paused)
    #expect(CheckOutcome.paused.isSuccess)
    #expect(await app.pause == paused.pause)
    #expect(await app.upload(pin: "ABC123", isInteroperabilityEnabled: false).reason == .paused)
    #expect(phone.network.requests(for: TestApp.tokenPath).isEmpty)
    #expect(phone.network.requests(for: "/index.txt").count == fetched)
    #expect(await app.cursor == before)
    phone.clock.advance(by: 3_600)
    #expect(await app.pause == nil)
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(2))
  }

  @Test("A pause without an end lasts until a document without it, which an upload also requests")
  func resume() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    var paused = try phone.document(version: 2)
    paused.pause = DeviceConfiguration.Pause(until: nil)
    try phone.serve(paused)
    #expect(await app.check() == .paused)
    #expect(try await phone.launch().check() == .paused)
    try phone.serve(try phone.document(version: 3))
    let outcome = await app.upload(pin: "ABC123", isInteroperabilityEnabled: false)
    #expect(outcome.reason != .paused)
    #expect(await app.check() == .checked(.none))
  }

  @Test("The remote configuration must be signed by a key of the document, and survives a rotation")
  func remoteConfiguration() async throws {
    let phone = try TestApp()
    let second = P256.Signing.PrivateKey()
    let app = try await phone.launchedAfterFirstCheck()
    func serve(_ version: Int, by key: P256.Signing.PrivateKey, named name: String) throws {
      let thresholds = RiskScoreThresholds(
        maxNoRiskScore: version, maxLowRiskScore: 100, maxMiddleRiskScore: 200)
      let signed = try UnverifiedRemoteConfiguration.signed(
        RemoteConfiguration(version: version, riskLevelConfiguration: thresholds),
        privateKeyPEM: key.pemRepresentation, keyID: "260", keyVersion: name)
      phone.network.script(TestApp.configurationPath, .response(200, try signed.encoded()))
    }
    try serve(1, by: phone.signer, named: "v1")
    _ = await app.check()
    #expect(await app.riskRules.first?.scores == 0...1)
    try serve(2, by: second, named: "v2")
    _ = await app.check()
    #expect(await app.riskRules.first?.scores == 0...1)
    var document = try phone.document(version: 2)
    document.keys = [
      .init(keyID: "260", keyVersion: "v2", publicKey: second.publicKey.pemRepresentation)
    ]
    try phone.serve(document)
    _ = await app.check()
    #expect(await app.riskRules.first?.scores == 0...2)
    #expect(try await phone.launch().riskRules.first?.scores == 0...2)
  }

  @Test(
    "Rules for exposure windows come from the remote configuration; without them the app's own apply"
  )
  func windowRules() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    _ = await app.check()
    var rules = WindowRiskConfiguration.standard
    rules.infectiousnessForDaysSinceOnsetOfSymptoms = ["3": 2, "unknown": 1]
    rules.daySummaries.daysSinceLastExposureThreshold = 10
    try phone.serve(RemoteConfiguration(version: 1, windowRiskConfiguration: rules))
    phone.publish(0..<2)
    _ = await app.check()
    #expect(phone.script.state.maps == [[0: 1], [3: 2, ENDaysSinceOnsetOfSymptomsUnknown: 1]])
    let assessment = await app.windowRisk
    #expect(assessment?.policy == .standard)
    #expect(assessment?.configuration().daysSinceLastExposureThreshold == 10)
  }

  @Test("A second change of the infectiousness map within a week waits, and the checks go on")
  func infectiousnessMap() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    let app = try await phone.launchedAfterFirstCheck()
    for day in 0..<3 {
      var rules = WindowRiskConfiguration.standard
      rules.infectiousnessForDaysSinceOnsetOfSymptoms = ["\(day)": 2, "5": 0]
      try phone.serve(
        RemoteConfiguration(version: day + 1, windowRiskConfiguration: rules))
      phone.publish(0..<(2 * day + 1))
      #expect(await app.check() == .checked(.none))
      // The last change waits until a week after the one of the day before.
      phone.clock.advance(by: day == 1 ? 7 * TestApp.day - 1 : TestApp.day)
      phone.publish(0..<(2 * day + 2))
      #expect(await app.check() == .checked(.none))
    }
    let infectious = phone.script.state.maps.map { $0?.filter { $0.value > 0 } }
    #expect(infectious == [[0: 2], [0: 2], [1: 2], [1: 2], [1: 2], [2: 2]])
  }
}
