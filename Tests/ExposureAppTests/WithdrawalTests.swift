// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureNotification
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import TextEncodings

@testable import ExposureApp

@Suite("Withdrawn key files") struct WithdrawalTests {
  /// The hash of the files that `TestApp.publish` serves.
  private func hash() throws -> KeyFileHash {
    let digest = SHA256.hash(data: Data("0123456789".utf8))
    return try #require(KeyFileHash(hex: digest.hexadecimal))
  }

  /// A document that withdraws the files of these names, as `TestApp.publish` serves them.
  private func withdraw(_ phone: TestApp, version: Int) throws -> KeyFileHash {
    let hash = try hash()
    var document = try phone.document(version: version)
    document.withdrawn = [hash]
    try phone.serve(document)
    return hash
  }

  /// Makes each detection find half an hour near a diagnosed user.
  private func meetPositiveUser(_ phone: TestApp) {
    let now = phone.clock.now
    phone.script.update {
      $0.found = [(date: now, seconds: 1_800, score: 4_000)]
      $0.matchedKeyCount = 1
    }
  }

  @Test("A withdrawn file is not analysed, and the cursor passes it")
  func ignored() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let hash = try withdraw(phone, version: 2)
    phone.publish(0..<2, except: [1: .text("another file")])
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections.map(\.count) == [1])
    #expect(await app.cursor == TestApp.end(1))
    #expect(phone.trust.withdrawals == [[hash]])
    #expect(await app.check() == .checked(.none))
    #expect(phone.trust.withdrawals.count == 1)
  }

  @Test("An encounter found through a withdrawn file is undone with its notice; others return")
  func undone() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    meetPositiveUser(phone)
    phone.publish(0..<2, except: [1: .text("another file")])
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.found = [] }
    _ = try withdraw(phone, version: 2)
    // The other file of the same detection is analysed again.
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections.map(\.count) == [2, 1])
    #expect(await app.exposures.isEmpty)
    #expect(phone.notices.removed.contains(.risk))
    #expect(try await phone.launch().riskLevel == .none)
  }

  @Test("After an undo the risk is unknown until the other files are analysed again")
  func pausedUndo() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    meetPositiveUser(phone)
    phone.publish(0..<2, except: [1: .text("another file")])
    #expect(await app.check() == .checked(.high))
    var document = try phone.document(version: 2)
    document.pause = DeviceConfiguration.Pause(until: nil)
    document.withdrawn = [try hash()]
    try phone.serve(document)
    #expect(await app.check() == .paused)
    #expect(await app.riskLevel == .unknown)
    #expect(phone.notices.removed.contains(.risk))
    document.version = 3
    document.pause = nil
    try phone.serve(document)
    phone.script.update { $0.detectionError = .internal }
    #expect(await app.check() == .failed(.detectionFailed))
    #expect(try await phone.launch().riskLevel == .unknown)
    phone.script.update { $0.detectionError = nil }
    #expect(await app.check() == .checked(.high))
  }

  /// Serves a document without withdrawn files.
  private func restore(_ phone: TestApp, version: Int) throws {
    try phone.serve(try phone.document(version: version))
  }

  @Test(
    "A file whose withdrawal ends is analysed, whether it was skipped or undone",
    arguments: [true, false])
  func restored(wasAnalysed: Bool) async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    if wasAnalysed {
      meetPositiveUser(phone)
      phone.publish(0..<1)
      #expect(await app.check() == .checked(.high))
    }
    _ = try withdraw(phone, version: 2)
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    meetPositiveUser(phone)
    try restore(phone, version: 3)
    #expect(try await phone.launch().check() == .checked(.high))
    #expect(phone.script.state.detections.last == [TestApp.name(0)])
    let count = phone.script.state.detections.count
    try restore(phone, version: 4)
    #expect(try await phone.launch().check() == .checked(.high))
    #expect(phone.script.state.detections.count == count)
  }

  @Test("With exposure windows, the files of 14 days are passed again when a withdrawal ends")
  func restoredWindows() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    phone.script.update { $0.windows = [.beside(minutes: 20)] }
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2, except: [1: .text("another file")])
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.windows = [] }
    _ = try withdraw(phone, version: 2)
    #expect(await app.check() == .checked(.none))
    phone.script.update { $0.windows = [.beside(minutes: 20)] }
    try restore(phone, version: 3)
    #expect(await app.check() == .checked(.high))
    #expect(phone.script.state.detections.last == [TestApp.name(0), TestApp.name(1)])
  }

  @Test("When the server leaves out a withdrawal after its files have expired, nothing is fetched")
  func expired() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    let app = try await phone.launchedAfterFirstCheck()
    _ = try withdraw(phone, version: 2)
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    phone.clock.advance(by: Double(DeviceConfigurationLimit.withdrawnSeconds))
    try restore(phone, version: 3)
    _ = await app.check()
    #expect(await app.store.state.deviceConfiguration?.undone.isEmpty == true)
    #expect(await !app.store.state.download.isRestarted)
  }

  @Test("An encounter of other files stays")
  func others() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    meetPositiveUser(phone)
    phone.publish(0..<1, except: [0: .text("another file")])
    #expect(await app.check() == .checked(.high))
    _ = try withdraw(phone, version: 2)
    #expect(await app.check() == .checked(.high))
    #expect(await app.exposures.count == 1)
  }

  @Test(
    "With exposure windows, the framework forgets first and detects again, also after a failure")
  func windows() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    phone.script.update { $0.windows = [.beside(minutes: 20)] }
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.windows = [] }
    _ = try withdraw(phone, version: 2)
    phone.trust.fail(1)
    #expect(await app.check() == .failed(.detectionFailed))
    #expect(await app.riskLevel == .high)
    #expect(await app.check() == .checked(.none))
    #expect(phone.trust.withdrawals.count == 1)
    #expect(phone.script.state.detections.map(\.count) == [1, 0])
  }
}
