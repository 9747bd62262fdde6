// SPDX-License-Identifier: Apache-2.0

/// Commits concurrent uploads in one transaction, and so with one sync of the disk.
///
/// While one group is committed, the next one accumulates. An upload gets its result when its group is on the disk. If
/// a group fails, each of its uploads is retried alone, so that one that cannot be stored does not affect others.
actor GroupCommit<Upload: Sendable> {
  typealias Commit = @Sendable ([Upload]) async throws -> [Acceptance]
  private typealias Pending = (
    upload: Upload, continuation: CheckedContinuation<Acceptance, any Error>
  )

  private let commit: Commit
  private let affectsAll: @Sendable (any Error) -> Bool
  private var pending: [Pending] = []
  private var isCommitting = false

  /// - Parameters:
  ///   - affectsAll: True for an error that no upload caused, such as a lost database: the group and all waiting
  ///     uploads fail.
  ///   - commit: Stores all uploads or none, and returns one result for each.
  init(
    affectsAll: @escaping @Sendable (any Error) -> Bool = { _ in false }, _ commit: @escaping Commit
  ) {
    self.affectsAll = affectsAll
    self.commit = commit
  }

  /// The number of uploads that are not in a commit yet.
  var pendingCount: Int { pending.count }

  /// Stores `upload` and returns the result when it is on the disk.
  func accept(_ upload: Upload) async throws -> Acceptance {
    try await withCheckedThrowingContinuation { continuation in
      pending.append((upload, continuation))
      guard !isCommitting else { return }
      isCommitting = true
      Task { await self.commitAll() }
    }
  }

  private func commitAll() async {
    while !pending.isEmpty {
      let group = Array(pending.prefix(KeyServerLimit.uploadsInOneCommit))
      pending.removeFirst(group.count)
      let results = await results(of: group.map(\.upload))
      for (pending, result) in zip(group, results) { pending.continuation.resume(with: result) }
      // The last upload of the group fails if the error came after others were stored.
      if case .failure(let error) = results.last, affectsAll(error) { failAll(error) }
    }
    isCommitting = false
  }

  /// Fails the waiting uploads, so that none waits for several deadlines of a database that hangs.
  private func failAll(_ error: any Error) {
    for waiting in pending { waiting.continuation.resume(throwing: error) }
    pending = []
  }

  private func results(of uploads: [Upload]) async -> [Result<Acceptance, any Error>] {
    do {
      return try await commit(uploads).map { .success($0) }
    } catch  where uploads.count > 1 && !affectsAll(error) {
      var results: [Result<Acceptance, any Error>] = []
      for upload in uploads {
        if case .failure(let error) = results.last, affectsAll(error) {
          results.append(.failure(error))
        } else {
          results += await self.results(of: [upload])
        }
      }
      return results
    } catch {
      return uploads.map { _ in .failure(error) }
    }
  }
}
