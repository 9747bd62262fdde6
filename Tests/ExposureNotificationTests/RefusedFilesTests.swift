// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct RefusedFilesTests: SuiteOfTrustingPhone {
  let scene: TrustingPhone

  init() throws { scene = try TrustingPhone() }

  private func code(_ manager: ENManager, _ files: [URL]) async -> ENError.Code? {
    do {
      _ = try await manager.detect(files, configuration)
      return nil
    } catch {
      return (error as? ENError)?.code
    }
  }

  /// A file that is not signed by the authority, and one that is no key file.
  private func badFiles() throws -> [URL] {
    let noise = folder.path("noise.zip")
    try Data(repeating: 7, count: 100).write(to: noise)
    return [try Authority().publish([], as: "foreign.zip"), noise]
  }

  @Test("A refused file does not use up the six calls of a day")
  func refund() async throws {
    let manager = try await phone.enabledManager()
    let (bad, good) = (try badFiles(), try authority.publish([]))
    for call in 0..<6 {
      #expect(await code(manager, [bad[call % 2]]) == .badFormat)
      #expect(await code(manager, [good]) == nil)
      #expect(await code(manager, [good, bad[call % 2]]) == (call < 5 ? .badFormat : .rateLimited))
    }
    #expect(await code(manager, [good]) == .rateLimited)
  }

  @Test("More refused calls than the limit of a day count, also after a restart")
  func limit() async throws {
    let bad = try #require(try badFiles().first)
    var manager = try await phone.enabledManager()
    for call in 1...DeviceLimit.refundsPerDay {
      #expect(await code(manager, [bad]) == .badFormat)
      if call == 20 { manager = try await phone.enabledManager() }
    }
    for _ in 0..<DeviceLimit.detectionsPerDayVersion2 {
      #expect(await code(manager, [bad]) == .badFormat)
    }
    #expect(await code(manager, [bad]) == .rateLimited)
    phone.clock.advance(by: TestPhone.day)
    #expect(await code(manager, [bad]) == .badFormat)
  }

  @Test("A refund gives back the map and the new files of the call as well")
  func everything() throws {
    var history = DetectionHistory()
    func call(_ digest: UInt8, _ map: [Int: UInt32]) -> DetectionCall {
      DetectionCall(
        time: TestPhone.noon, limit: .newFiles([Data([digest])], 1), map: map,
        changesMapFreely: false)
    }
    try history.take(call(1, [0: 1]))
    let before = history
    var other = history
    #expect(throws: ENError(.rateLimited)) { try other.take(call(2, [0: 1])) }
    try history.take(call(1, [0: 2]))
    history.refund(to: before, at: TestPhone.noon)
    #expect(history.map == before.map && history.files == before.files)
    try history.take(call(1, [0: 2]))
  }
}
