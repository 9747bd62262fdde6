import Foundation
import Synchronization
import Testing
import UploadToken

@testable import KeyServer

@Suite("Key server: group commit")
struct GroupCommitTests {
  /// What a store that is asked to commit groups saw.
  private final class Book: Sendable {
    let groups = Mutex<[Int]>([])
  }

  private struct Broken: Error {}

  private func upload(_ number: UInt8) throws -> AdmittedUpload {
    try AdmittedUpload(
      token: UsedToken(
        .init(
          tokenID: "\(number)", issuedAt: RunningKeyServer.start,
          expiresAt: RunningKeyServer.start)),
      digest: Data([number]), keys: [], revision: .leaveKnown,
      facts: UploadFacts(
        issuer: "", platform: .unknown, onset: SymptomOnset(nil, at: RunningKeyServer.start),
        keys: [], at: RunningKeyServer.start), answer: { _ in Data([number]) })
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
    "Uploads that wait while one is committed share the next commit, and each hears its own answer")
  func together() async {
    let book = Book()
    let commits = GroupCommit<AdmittedUpload> { uploads in
      book.groups.withLock { $0.append(uploads.count) }
      try await Task.sleep(for: .milliseconds(50))
      return uploads.map { .accepted(answer: $0.digest) }
    }
    let results = await results(of: Array(0..<20), commits)
    for (number, result) in results {
      #expect((try? result.get()) == .accepted(answer: Data([number])))
    }
    let groups = book.groups.withLock { $0 }
    #expect(groups.reduce(0, +) == 20)
    #expect(groups.count < 20)
  }

  @Test("One upload that cannot be kept takes no other of its group with it")
  func oneFails() async {
    let commits = GroupCommit<AdmittedUpload> { uploads in
      try await Task.sleep(for: .milliseconds(20))
      if uploads.contains(where: { $0.digest == Data([7]) }) { throw Broken() }
      return uploads.map { .accepted(answer: $0.digest) }
    }
    let results = await results(of: Array(0..<20), commits)
    #expect(results.filter { (try? $0.value.get()) == nil }.map(\.key) == [7])
    #expect(results.count == 20)
  }

  @Test("A group is no larger than its limit")
  func limit() async throws {
    let book = Book()
    let commits = GroupCommit<AdmittedUpload> { uploads in
      let isFirst = book.groups.withLock { groups in
        groups.append(uploads.count)
        return groups.count == 1
      }
      // While the first one is committed all the others gather.
      if isFirst { try await Task.sleep(for: .seconds(2)) }
      return uploads.map { .accepted(answer: $0.digest) }
    }
    let limit = KeyServerLimit.uploadsInOneCommit
    async let first = results(of: [0], commits)
    while book.groups.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(5)) }
    _ = await results(of: (1..<2 * limit + 2).map { UInt8($0) }, commits)
    _ = await first
    #expect(book.groups.withLock { $0 } == [1, limit, limit, 1])
  }
}
