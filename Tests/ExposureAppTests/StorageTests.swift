// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import SealedStorage
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Storage") struct StorageTests {
  private var folderOfStore: String { "Store" }

  @Test("Stored state is available after a restart")
  func restart() async throws {
    let phone = try TestApp()
    try await phone.launch().finishOnboarding()
    #expect(try await phone.launch().onboarding == .finished)
  }

  @Test("Files on disk contain no PIN, key, token or field name in plain text")
  func sealed() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.addKey(daysAgo: 1)
    phone.network.script(
      TestApp.tokenPath, .text(#"{"result":{"accessToken":"eyJ.secret.token"}}"#))
    phone.network.script(TestApp.uploadPath, .fails(.interrupted))
    _ = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true)
    #expect(await app.hasPendingUpload)
    let key = Data(repeating: 16, count: 16)
    let forbidden = [
      Data("A1B2C3".utf8), Data("eyJ.secret".utf8), key, Data(key.base64EncodedString().utf8),
      Data("exposures".utf8), Data("cursor".utf8), Data("pendingUpload".utf8),
    ]
    let files = phone.temporary.files()
    #expect(files.count >= 2)
    for file in files {
      let content = try Data(contentsOf: file)
      for secret in forbidden {
        #expect(content.range(of: secret) == nil, "\(file.lastPathComponent) holds a secret")
      }
    }
  }

  @Test("A missing key and a wrong key are different conditions with advice")
  func conditions() async throws {
    let phone = try TestApp()
    try await phone.launch().finishOnboarding()
    let key = phone.sealingKey
    phone.sealingKey = nil
    #expect(try await phone.launch().storage == .keyMissing)
    phone.sealingKey = SealingKey(from: phone.randomness)
    #expect(try await phone.launch().storage == .damaged)
    phone.sealingKey = key
    #expect(try await phone.launch().storage == .ready)
    for condition in StorageCondition.allCases {
      #expect((condition.advice == nil) == (condition == .ready))
    }
  }

  @Test("Without its store the app sends no request and reports the failure")
  func spendsNothing() async throws {
    let phone = try TestApp()
    phone.sealingKey = nil
    let app = try phone.launch()
    let run = ManualRun()
    #expect(await app.backgroundCheck(run) == .failed(.storageUnavailable))
    #expect(run.completions == [false])
    #expect(phone.scheduler.requests.count == 1)
    let outcome = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false)
    #expect(outcome.reason == .storage(.notReady(.keyMissing)))
    #expect(phone.network.requests.isEmpty)
    #expect(phone.script.state.keyRequestCount == 0)
    #expect(await app.lastFailure == .storageUnavailable)
  }

  @Test("Starting over renames the old files, or opens them if the key fits")
  func startOver() async throws {
    let phone = try TestApp()
    try await phone.launch().finishOnboarding()
    let key = try #require(phone.sealingKey)
    phone.sealingKey = nil
    let app = try phone.launch()
    try await app.startOver(with: key)
    #expect(await app.onboarding == .finished)
    phone.sealingKey = SealingKey(from: phone.randomness)
    let damaged = try phone.launch()
    try await damaged.startOver(with: try #require(phone.sealingKey))
    #expect(await damaged.storage == .ready)
    #expect(await damaged.riskLevel == .unknown)
    let aside = phone.folder.appendingPathComponent("Store/state.sealed.damaged")
    #expect(FileManager.default.fileExists(atPath: aside.path))
    #expect(try await phone.launch().storage == .ready)
  }

  @Test(
    "On a full disk neither the file nor the app's state changes",
    .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 64 << 10)
    let phone = try TestApp(folder: disk.url.appendingPathComponent("app"))
    let app = try await phone.launchedAfterFirstCheck()
    let ballast = disk.fill()
    await #expect(throws: StorageFailure.full) { try await app.finishOnboarding() }
    #expect(await app.onboarding == .readyToFinish)
    #expect(try await phone.launch().cursor == 0)
    try FileManager.default.removeItem(at: ballast)
    try await app.finishOnboarding()
    #expect(try await phone.launch().onboarding == .finished)
  }
}
