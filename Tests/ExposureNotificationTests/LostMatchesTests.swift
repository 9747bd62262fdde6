// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TestSupport
import Testing
import World

@testable import ExposureNotification

@Suite struct LostMatchesTests: SuiteOfTrustingPhone {
  let scene: TrustingPhone

  init() throws { scene = try TrustingPhone { $0.detectionsPerDay = 100 } }

  private var names: [String] { folder.files().map(\.lastPathComponent) }

  /// The files of two diagnosed users whom the phone met yesterday, of which it has analysed both.
  private func analysedFiles() async throws -> [URL] {
    let manager = try await phone.enabledManager()
    let users = [try DiagnosedUser(1), try DiagnosedUser(2)]
    for user in users { await user.meets(phone) }
    phone.clock.advance(by: TestPhone.day)
    let files = try users.enumerated().map { index, user in
      try authority.publish([try user.published()], as: "\(index).zip")
    }
    for file in files { _ = try await manager.detect([file], configuration) }
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 2)
    return files
  }

  private func newFile() throws -> URL {
    try authority.publish([try DiagnosedUser(9).published()], as: "new.zip")
  }

  private func fails(_ call: () async throws -> Void, naming count: Int) async {
    let error = await #expect(throws: ENError.self) { try await call() }
    #expect(error?.code == .dataInaccessible)
    #expect(error?.localizedDescription.contains("(\(count) known files") == true)
  }

  @Test(
    "After an inverted bit in the matches no detection succeeds until all files are passed again")
  func rebuilt() async throws {
    let files = try await analysedFiles()
    try phone.invertBit(in: "matches")
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await fails({ _ = try await manager.detectAgain(configuration) }, naming: 2)
    #expect(device.storageDamage.map(\.part) == [.matches] && names.contains("matches.damaged"))
    await fails({ _ = try await manager.detect([try newFile()], configuration) }, naming: 2)

    let restarted = try await phone.enabledManager()
    await fails({ _ = try await restarted.detect([files[1]], configuration) }, naming: 1)
    #expect(try await restarted.detect([files[0]], configuration).matchedKeyCount == 2)
    #expect(try await restarted.detectAgain(configuration).matchedKeyCount == 2)
    #expect(phone.device().storageDamage.isEmpty)
  }

  @Test("Missing matches are a loss like damaged ones, also over a restart")
  func missing() async throws {
    let files = try await analysedFiles()
    try FileManager.default.removeItem(at: folder.path("matches"))
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await fails({ _ = try await manager.detectAgain(configuration) }, naming: 2)
    #expect(device.storageDamage.map(\.part) == [.matches])
    let restarted = try await phone.enabledManager()
    await fails({ _ = try await restarted.detect([files[1]], configuration) }, naming: 1)
    #expect(try await restarted.detect([files[0]], configuration).matchedKeyCount == 2)
    #expect(phone.device().storageDamage.isEmpty)
  }

  @Test("Matches that were removed with all data are no loss")
  func removed() async throws {
    _ = try await analysedFiles()
    let device = phone.device()
    try await device.removeAllData()
    let manager = try await phone.enabledManager(of: device)
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
    #expect(device.storageDamage.isEmpty)
  }

  @Test("All files in one call give the complete result")
  func inOneCall() async throws {
    let files = try await analysedFiles()
    try phone.invertBit(in: "matches")
    let manager = try await phone.enabledManager()
    #expect(try await manager.detect(files, configuration).matchedKeyCount == 2)
  }

  @Test("A call without files is not counted while matches are lost")
  func notCounted() async throws {
    _ = try await analysedFiles()
    try phone.invertBit(in: "matches")
    phone.clock.advance(by: TestPhone.day)
    var phone = phone
    phone.detectionsPerDay = 2
    let manager = try await phone.enabledManager()
    for _ in 1...10 {
      await fails({ _ = try await manager.detectAgain(configuration) }, naming: 2)
    }
    await fails({ _ = try await manager.detect([try newFile()], configuration) }, naming: 2)
  }

  @Test("The app can confirm that the missing files do not exist any more")
  func confirmed() async throws {
    let files = try await analysedFiles()
    try phone.invertBit(in: "matches")
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await fails({ _ = try await manager.detect([files[0]], configuration) }, naming: 1)
    try await device.confirmKeyFilesPassed()
    #expect(device.storageDamage.isEmpty)
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 1)
  }

  @Test("Files older than 14 days need not be passed again")
  func old() async throws {
    _ = try await analysedFiles()
    try phone.invertBit(in: "matches")
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await fails({ _ = try await manager.detectAgain(configuration) }, naming: 2)
    await phone.run(device, days: 13.9)
    await fails({ _ = try await manager.detect([try newFile()], configuration) }, naming: 2)
    await phone.run(device, days: 0.2)
    #expect(try await manager.detect([try newFile()], configuration).matchedKeyCount == 0)
    #expect(device.storageDamage.isEmpty)
  }

  @Test("If the list of files is damaged as well, only a confirmation or 14 days end the wait")
  func listLost() async throws {
    let files = try await analysedFiles()
    for name in ["matches", "detections"] { try phone.invertBit(in: name) }
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await fails({ _ = try await manager.detect(files, configuration) }, naming: 0)
    #expect(Set(device.storageDamage.map(\.part)) == [.matches, .detectionLimits])
    try await device.confirmKeyFilesPassed()
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 2)
  }

  @Test("A kill while matches are set aside loses no mark of the loss", arguments: [true, false])
  func killed(isRenamed: Bool) async throws {
    _ = try await analysedFiles()
    let intact = try Data(contentsOf: folder.path("matches"))
    try phone.invertBit(in: "matches")
    let damaged = try Data(contentsOf: folder.path("matches"))
    let manager = try await phone.enabledManager()
    await fails({ _ = try await manager.detectAgain(configuration) }, naming: 2)
    if !isRenamed { try damaged.write(to: folder.path("matches")) }
    #expect(intact != damaged)
    let restarted = try await phone.enabledManager()
    await fails({ _ = try await restarted.detect([try newFile()], configuration) }, naming: 2)
  }

  @Test("After a loss withdrawn files need not be passed again")
  func withdrawn() async throws {
    let files = try await analysedFiles()
    try phone.invertBit(in: "matches")
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    try await device.withdraw(digests: [Data(SHA256.hash(data: try Data(contentsOf: files[0])))])
    #expect(device.storageDamage.map(\.part) == [.matches])
    await fails({ _ = try await manager.detectAgain(configuration) }, naming: 1)
    #expect(try await manager.detect([files[1]], configuration).matchedKeyCount == 1)
    #expect(device.storageDamage.isEmpty)
  }

  @Test("One digest above the limit removes the oldest file")
  func limit() {
    var files = AnalysedFiles()
    let period = RetentionPeriod(times: [TestPhone.noon])
    func digest(_ number: Int) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }
    let count = DeviceLimit.analysedFiles
    files.add([digest(0)], at: TestPhone.noon - 1, keeping: period)
    files.add(Set((1..<count).map(digest)), at: TestPhone.noon, keeping: period)
    #expect(files.passed.count == count && files.passed[digest(0)] != nil)
    files.add([digest(count)], at: TestPhone.noon, keeping: period)
    #expect(files.passed.count == count && files.passed[digest(0)] == nil)
  }
}
