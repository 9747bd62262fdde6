// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import UploadToken

@testable import KeyServer

@Suite("Key server: group commit")
struct GroupCommitTests {
  /// Records the sizes of the committed groups.
  private final class Record: Sendable {
    let groups = Mutex<[Int]>([])
  }

  private struct Broken: Error {}

  private func upload(_ number: UInt8) throws -> AdmittedUpload {
    try AdmittedUpload(
      token: UsedToken(
        .init(
          tokenID: "\(number)", issuedAt: RunningKeyServer.start,
          expiresAt: RunningKeyServer.start), issuer: "codes",
        at: RunningKeyServer.start, keys: StoreScene.databaseKeys),
      digest: Data([number]), keys: [], revision: .leaveKnown,
      facts: UploadStatistics(
        issuer: "", tokenIssuedAt: RunningKeyServer.start, platform: .unknown,
        onset: SymptomOnset(nil, at: RunningKeyServer.start),
        keys: [], at: RunningKeyServer.start), response: { _ in Data([number]) })
  }

  private func results(
    of numbers: [UInt8], _ commits: GroupCommit<AdmittedUpload>
  ) async -> [UInt8: Result<Acceptance, any Error>] {
    await withTaskGroup(of: (UInt8, Result<Acceptance, any Error>).self) { group in
      for number in numbers {
        group.addTask {
          do {
            return (number, .success(try await commits.accept(try upload(number))))
          } catch {
            return (number, .failure(error))
          }
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
  }

  @Test(
    "Uploads that arrive during a commit share the next one, and each gets its own response")
  func together() async throws {
    let (record, mayEnd) = (Record(), Gate())
    let commits = GroupCommit<AdmittedUpload> { uploads in
      record.groups.withLock { $0.append(uploads.count) }
      try await mayEnd.wait()
      return uploads.map { .accepted(response: $0.digest) }
    }
    async let all = results(of: Array(0..<20), commits)
    try await Patience.until {
      await commits.pendingCount + record.groups.withLock { $0.reduce(0, +) } == 20
    }
    mayEnd.open()
    for (number, result) in await all {
      #expect((try? result.get()) == .accepted(response: Data([number])))
    }
    let groups = record.groups.withLock { $0 }
    #expect(groups.reduce(0, +) == 20)
    #expect(groups.count < 20)
  }

  @Test("An upload that cannot be stored does not affect the others of its group")
  func oneFails() async throws {
    let (record, mayEnd) = (Record(), Gate())
    let commits = GroupCommit<AdmittedUpload> { uploads in
      record.groups.withLock { $0.append(uploads.count) }
      // The other uploads arrive while the first one is committed.
      try await mayEnd.wait()
      if uploads.contains(where: { $0.digest == Data([7]) }) { throw Broken() }
      return uploads.map { .accepted(response: $0.digest) }
    }
    async let first = results(of: [0], commits)
    try await Patience.until { !record.groups.withLock { $0.isEmpty } }
    async let others = results(of: Array(1..<20), commits)
    try await Patience.until { await commits.pendingCount == 19 }
    mayEnd.open()
    let all = await first.merging(others) { $1 }
    #expect(all.count == 20)
    for (number, result) in all {
      let expected: Acceptance? = number == 7 ? nil : .accepted(response: Data([number]))
      #expect((try? result.get()) == expected)
    }
    // The second group has all others; when it has failed, each of them is retried alone.
    let retries = [Int](repeating: 1, count: 19)
    #expect(record.groups.withLock { $0 } == [1, 19] + retries)
  }

  @Test("A failure that no upload caused is not retried, and fails all waiting uploads at once")
  func allFail() async throws {
    let (record, mayEnd) = (Record(), Gate())
    let commits = GroupCommit<AdmittedUpload>(affectsAll: { $0 is Broken }) { uploads in
      record.groups.withLock { $0.append(uploads.count) }
      try await mayEnd.wait()
      throw Broken()
    }
    async let first = results(of: [0], commits)
    try await Patience.until { !record.groups.withLock { $0.isEmpty } }
    async let others = results(of: Array(1..<200), commits)
    try await Patience.until { await commits.pendingCount == 199 }
    mayEnd.open()
    for (_, result) in await first.merging(others, uniquingKeysWith: { $1 }) {
      #expect(throws: Broken.self) { try result.get() }
    }
    #expect(record.groups.withLock { $0 } == [1])
  }

  @Test("A failure that no upload caused ends the retries of a group, and fails what waits")
  func allFailLater() async throws {
    struct Lost: Error {}
    let (record, mayEnd) = (Record(), Gate())
    let commits = GroupCommit<AdmittedUpload>(affectsAll: { $0 is Lost }) { uploads in
      let number = record.groups.withLock { groups in
        groups.append(uploads.count)
        return groups.count
      }
      try await mayEnd.wait()
      switch number {
      case 1, 3: return uploads.map { .accepted(response: $0.digest) }
      case 2: throw Broken()
      default: throw Lost()
      }
    }
    async let first = results(of: [0], commits)
    try await Patience.until { !record.groups.withLock { $0.isEmpty } }
    async let others = results(of: Array(1..<200), commits)
    try await Patience.until { await commits.pendingCount == 199 }
    mayEnd.open()
    let all = await first.merging(others) { $1 }
    #expect(all.values.count { (try? $0.get()) != nil } == 2)
    // The second group is retried: its first upload is stored, and with its second one the database is lost.
    #expect(record.groups.withLock { $0 } == [1, KeyServerLimit.uploadsInOneCommit, 1, 1])
  }

  @Test("A group is no larger than its limit")
  func limit() async throws {
    let (record, mayEnd) = (Record(), Gate())
    let commits = GroupCommit<AdmittedUpload> { uploads in
      record.groups.withLock { $0.append(uploads.count) }
      // The other uploads arrive while the first one is committed.
      try await mayEnd.wait()
      return uploads.map { .accepted(response: $0.digest) }
    }
    let limit = KeyServerLimit.uploadsInOneCommit
    async let first = results(of: [0], commits)
    try await Patience.until { !record.groups.withLock { $0.isEmpty } }
    async let others = results(of: (1..<2 * limit + 2).map { UInt8($0) }, commits)
    try await Patience.until { await commits.pendingCount == 2 * limit + 1 }
    mayEnd.open()
    _ = await (first, others)
    #expect(record.groups.withLock { $0 } == [1, limit, limit, 1])
  }
}
