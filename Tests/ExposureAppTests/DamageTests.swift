// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import SealedStorage
import Synchronization
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Damaged storage") struct DamageTests {
  /// A phone with a high risk from the first of two analysed files.
  private func exposedPhone() async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    try await app.finishOnboarding()
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.high))
    return (phone, app)
  }

  private func isPresent(_ name: String, on phone: TestApp) -> Bool {
    FileManager.default.fileExists(
      atPath: phone.folder.appendingPathComponent("Store/\(name)").path)
  }

  @Test("A flipped bit in the marker loses nothing: it is set aside, reported and written again")
  func marker() async throws {
    let (phone, _) = try await exposedPhone()
    try phone.damage("begun.sealed")
    let app = try phone.launch()
    let changes = app.makeStateChanges()
    #expect(await app.storage == .ready)
    await app.start()
    #expect(await app.riskLevel == .high)
    #expect(await app.storageDamage.map(\.content) == [.appMarker])
    #expect(isPresent("begun.sealed.damaged", on: phone))
    #expect(isPresent("begun.sealed", on: phone))
    #expect(phone.notices.shown.last?.identifier == .storageDamaged)
    var iterator = changes.makeAsyncIterator()
    guard case .storageDamaged(let damage)? = await iterator.next()?.reason else {
      Issue.record("the first change is not storageDamaged")
      return
    }
    #expect(damage.content == .appMarker)
    #expect(await app.check() == .checked(.high))
    let again = try phone.launch()
    await again.start()
    #expect(phone.notices.shown.count { $0.identifier == .storageDamaged } == 1)
    try await again.acknowledgeDamage()
    #expect(await again.storageDamage.isEmpty)
    #expect(phone.notices.removed.last == .storageDamaged)
  }

  @Test(
    "After the loss of the state the risk is unknown until all files are analysed again",
    arguments: [true, false])
  func state(isRemoved: Bool) async throws {
    let (phone, _) = try await exposedPhone()
    if isRemoved {
      try FileManager.default.removeItem(
        at: phone.folder.appendingPathComponent("Store/state.sealed"))
    } else {
      try phone.damage("state.sealed")
    }
    let app = try phone.launch()
    #expect(await app.storage == .ready)
    #expect(await app.riskLevel == .unknown)
    #expect(await app.onboarding == .finished)
    await app.start()
    #expect(phone.notices.shown.last?.identifier == .storageDamaged)
    #expect(isPresent("state.sealed.damaged", on: phone) == !isRemoved)
    phone.script.update { $0.found = [] }
    phone.publish(0..<2, except: [1: .response(404)])
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.riskLevel == .unknown)
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<2)
    // Also after another restart.
    let again = try phone.launch()
    #expect(await again.riskLevel == .unknown)
    #expect(await again.check() == .checked(.high))
    #expect(await again.storageDamage.isEmpty)
    #expect(phone.notices.removed == [.storageDamaged])
    #expect(
      phone.script.state.detections.suffix(2) == [[TestApp.name(0)], [TestApp.name(1)]])
  }

  @Test("A loss that no file can restore is unknown for fourteen days, not longer")
  func emptyIndex() async throws {
    let (phone, _) = try await exposedPhone()
    try phone.damage("state.sealed")
    phone.network.index([])
    let app = try phone.launch()
    #expect(await app.check() == .checked(.unknown))
    #expect(await app.storageDamage.map(\.content) == [.appState])
    try await phone.pass(14 * TestApp.day + 1, in: app)
    try phone.serve(try phone.document(version: 2))
    // A server that listed no file for two weeks would be a failure of its own.
    phone.publish(86..<87)
    #expect(await app.check() == .checked(.none))
  }

  @Test(
    "The end of a recovery without files to analyse is announced when it is stored, not before",
    arguments: [true, false])
  func endOfRecovery(isStored: Bool) async throws {
    let (phone, _) = try await exposedPhone()
    try phone.damage("state.sealed")
    // A file that no phone wants any more: nothing is to be analysed.
    phone.publish(-90 ..< -89)
    let file = phone.folder.appendingPathComponent("Store/state.sealed")
    let looks = Mutex(0)
    let app = try phone.launch(damage: {
      // The second look of a check is the last step before its results are stored.
      let count = looks.withLock { count in
        count += 1
        return count
      }
      guard count == 2, !isStored else { return [] }
      // A folder in place of the file: it cannot be replaced. If this fails, so does the test.
      try? FileManager.default.removeItem(at: file)
      // The same.
      try? FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
      return []
    })
    let changes = app.makeStateChanges()
    _ = await app.check()
    #expect(looks.withLock { $0 } == 2)
    var reasons: [StateChange.Reason] = []
    for await change in changes {
      reasons.append(change.reason)
      if case .checkFinished = change.reason { break }
    }
    #expect(reasons.contains(.storageRestored) == isStored)
  }

  @Test("If the framework loses results during a detection, the files are analysed again at once")
  func frameworkResults() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.windows = [.beside(minutes: 20)] }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.script.update {
      $0.windows = []
      $0.damageInDetection = [DataDamage(.results, found: phone.clock.now)]
    }
    phone.publish(0..<2, except: [0: .response(404)])
    #expect(await app.check() == .failed(.filesMissing))
    // A detection without all files removes no day.
    #expect(await app.riskLevel == .high)
    phone.script.update { $0.windows = [.beside(minutes: 20)] }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.high))
    #expect(await app.storageDamage.isEmpty)
    phone.script.update { $0.windows = [] }
    phone.publish(0..<3)
    #expect(await app.check() == .checked(.none))
  }

  @Test(
    "A framework that waits for the files of lost results gets them again, or a confirmation",
    arguments: [true, false])
  func waitingFramework(isComplete: Bool) async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.windows = [.beside(minutes: 20)] }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.high))
    let script = phone.script
    phone.trust.onConfirmation { script.update { $0.lostFiles = [] } }
    script.update {
      $0.lostFiles = [TestApp.name(0), TestApp.name(1)]
      $0.damageInDetection = [DataDamage(.results, found: phone.clock.now)]
    }
    // The server may have removed a file.
    phone.publish(isComplete ? 0..<3 : 1..<3)
    #expect(await app.check() == .checked(.high))
    #expect(script.state.lostFiles.isEmpty == !isComplete)
    #expect(
      script.state.detections.last == (isComplete ? 0..<3 : 1..<3).map(TestApp.name))
    #expect(await app.storageDamage.isEmpty)
  }

  @Test("Lost results return if a check takes only some of the files, and the phone refuses one")
  func manyFiles() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    let app = try await phone.launchedAfterFirstCheck()
    let start = Int64(TestApp.firstEnd)
    let names = (0..<Int64(DownloadLimit.filesPerRun + 5)).map { "\(start + $0)-00001.zip" }
    phone.network.index(names)
    for name in names { phone.network.script("/" + name, .text("0123456789")) }
    phone.script.update {
      $0.refusedFiles = [names[names.count - 1]]
      $0.lostFiles = Set(names)
      $0.damageInDetection = [DataDamage(.results, found: phone.clock.now)]
      $0.windows = [.beside(minutes: 20)]
    }
    let script = phone.script
    phone.trust.onConfirmation { script.update { $0.lostFiles = [] } }
    for _ in 0..<20 where await app.storageDamage.isEmpty == false || script.state.lostFiles != [] {
      _ = await app.check()
      try phone.serve(try phone.document(version: script.state.detections.count + 2))
      phone.clock.advance(by: TestApp.day)
    }
    #expect(await app.storageDamage.isEmpty)
    #expect(await app.riskLevel == .high)
    #expect(script.state.lostFiles.isEmpty)
  }

  @Test("Damage of the framework's other files is shown once, and a repeated report is ignored")
  func frameworkKeys() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let damage = DataDamage(.ownKeys, found: phone.clock.now)
    phone.script.update { $0.damage = [damage] }
    _ = await app.check()
    _ = await app.check()
    #expect(phone.notices.shown.map(\.identifier) == [.storageDamaged])
    #expect(await app.storageDamage == [damage])
    #expect(await app.riskLevel == .none)
    try await app.acknowledgeDamage()
    let again = try phone.launch()
    _ = await again.check()
    #expect(await again.storageDamage.isEmpty)
    #expect(phone.notices.shown.count == 1)
  }
}

@Suite("Reasons of failures") struct FailureReasonTests {
  @Test("A folder without permission, a full disk and other errors of the disk are told apart")
  func disk() {
    let reasons: [(Int32, CheckFailure)] = [
      (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EACCES, .notPermitted), (EPERM, .notPermitted),
      (EROFS, .notPermitted), (EIO, .diskFailed), (ENOTDIR, .diskFailed),
    ]
    for (code, reason) in reasons {
      #expect(CheckFailure(NetworkFailure(code: code)) == reason, "\(code)")
    }
    #expect(StorageFailure(.disk(EACCES)) == .notPermitted)
    #expect(StorageFailure(.full) == .full)
    #expect(StorageFailure(.disk(EIO)) == .disk)
    #expect(CheckFailure(StorageFailure.notPermitted) == .notPermitted)
    #expect(CheckFailure(StorageFailure.disk) == .diskFailed)
    #expect(CheckFailure(ENError(.insufficientStorage)) == .diskFull)
  }

  @Test("A file in place of the folder for key files is not reported as a full disk")
  func noFolder() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let folder = phone.folder.appendingPathComponent("KeyFiles")
    try? FileManager.default.removeItem(at: folder)
    try Data("file".utf8).write(to: folder)
    phone.publish(0..<1)
    #expect(await app.check() == .failed(.diskFailed))
  }

  @Test("Turning on with a full disk names the disk")
  func enabling() async throws {
    let phone = try TestApp()
    phone.script.update {
      $0.isEnabled = false
      $0.enableError = .insufficientStorage
    }
    #expect(await (try phone.launch()).enable() == .diskFull)
  }

  @Test(
    "The reason of a failure is kept if the full disk cannot store it",
    .needs(.smallDisk))
  func lastFailure() async throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let phone = try TestApp(folder: disk.url.appendingPathComponent("app"))
    let app = try await phone.launchedAfterFirstCheck()
    let ballast = disk.fill()
    #expect(await app.check() == .failed(.diskFull))
    #expect(await app.lastFailure == .diskFull)
    try FileManager.default.removeItem(at: ballast)
    #expect(await app.check() == .checked(.none))
    #expect(await app.lastFailure == nil)
  }
}
