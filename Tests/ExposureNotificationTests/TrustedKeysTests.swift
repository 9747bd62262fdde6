// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct TrustedKeysTests: SuiteOfTrustingPhone {
  let scene: TrustingPhone

  init() throws { scene = try TrustingPhone() }

  private func key(_ version: String = "v1") -> (
    keyID: String, keyVersion: String, publicKeyPEM: String
  ) {
    ("260", version, P256.Signing.PrivateKey().publicKey.pemRepresentation)
  }

  @Test("Replaced keys decide from the next detection on; an invalid key changes nothing")
  func replaced() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    let file = try authority.publish([try DiagnosedUser().published()])
    _ = try await manager.detect([file], configuration)
    #expect(throws: RegionConfigurationError.notAPublicKey(version: "v2")) {
      try device.setTrustedKeys([key(), ("260", "v2", "no key")])
    }
    _ = try await manager.detect([file], configuration)
    try device.setTrustedKeys([key()])
    let refusal = await #expect(throws: ENError.self) {
      _ = try await manager.detect([file], configuration)
    }
    #expect(refusal?.code == .badFormat)
    try device.setTrustedKeys([key(), authority.publicKey])
    _ = try await manager.detect([file], configuration)
    #expect(device.region.region == "PL")
  }

  @Test("Up to ten keys are trusted", arguments: [0, 10, 11])
  func count(count: Int) throws {
    let device = phone.device()
    let keys = (0..<count).map { key("v\($0)") }
    guard count > StoredRegion.keysMax else { return try device.setTrustedKeys(keys) }
    #expect(throws: RegionConfigurationError.tooLarge) { try device.setTrustedKeys(keys) }
  }

  @Test(
    "A withdrawn file is forgotten, also after a restart; a key that is in another file too stays")
  func withdrawn() async throws {
    let (first, second) = (try DiagnosedUser(1), try DiagnosedUser(2))
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await second.meets(phone)
    phone.clock.advance(by: 3_600)
    await first.meets(phone)
    phone.clock.advance(by: TestPhone.day)
    let file = try authority.publish([try first.published()])
    let both = try authority.publish(
      [try first.published(), try second.published()], as: "2.zip")
    #expect(try await manager.detect([file, both], configuration).matchedKeyCount == 2)
    try await device.withdraw(digests: [try #require(KeyFileDigest.of(both))])
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 1)
    let restarted = phone.device()
    let again = try await phone.enabledManager(of: restarted)
    #expect(try await again.detectAgain(configuration).matchedKeyCount == 1)
    try await restarted.withdraw(digests: [try #require(KeyFileDigest.of(file))])
    #expect(try await again.detectAgain(configuration).matchedKeyCount == 0)
  }

  @Test("A file that was read in a later detection is remembered for a known key")
  func laterFile() async throws {
    let diagnosed = try DiagnosedUser()
    let device = phone.device()
    let manager = try await afterMeeting(diagnosed, device)
    let file = try authority.publish([try diagnosed.published()])
    let other = try authority.publish(
      [try diagnosed.published(), try DiagnosedUser(3).published()], as: "2.zip")
    _ = try await manager.detect([file], configuration)
    _ = try await manager.detect([other], configuration)
    try await device.withdraw(digests: [try #require(KeyFileDigest.of(file))])
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 1)
    try await device.withdraw(digests: [Data(repeating: 1, count: 32)])
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 1)
  }

  @Test("The last result is forgotten with a withdrawal")
  func lastResult() async throws {
    let diagnosed = try DiagnosedUser()
    let device = phone.device()
    let manager = try await afterMeeting(diagnosed, device)
    let file = try authority.publish([try diagnosed.published()])
    let summary = try await manager.detect([file], configuration)
    try await device.withdraw(digests: [try #require(KeyFileDigest.of(file))])
    let refusal = await #expect(throws: ENError.self) {
      _ = try await manager.windows(of: summary)
    }
    #expect(refusal?.code == .badParameter)
  }
}
