/// Lets uploads that wait at the same time share one transaction, and so one sync of the disk.
///
/// While one group is being committed the next one gathers. An upload is answered only when its group is
/// on the disk. Where a group fails each of its uploads is tried by itself, so that one which cannot be
/// kept takes no other with it.
actor GroupCommit<Upload: Sendable> {
  typealias Commit = @Sendable ([Upload]) async throws -> [Acceptance]

  private let commit: Commit
  private var waiting: [(upload: Upload, answer: CheckedContinuation<Acceptance, any Error>)]
  private var isBusy = false

  /// Groups for `commit`, which keeps all of its uploads or none and gives one result for each.
  init(_ commit: @escaping Commit) {
    self.commit = commit
    waiting = []
  }

  /// Uploads that no commit has begun for.
  var waitingCount: Int { waiting.count }

  /// What became of `upload`, once that is on the disk.
  func accept(_ upload: Upload) async throws -> Acceptance {
    try await withCheckedThrowingContinuation { answer in
      waiting.append((upload, answer))
      guard !isBusy else { return }
      isBusy = true
      Task { await self.commitAll() }
    }
  }

  private func commitAll() async {
    while !waiting.isEmpty {
      let group = Array(waiting.prefix(KeyServerLimit.uploadsInOneCommit))
      waiting.removeFirst(group.count)
      for (waiting, result) in zip(group, await results(of: group.map(\.upload))) {
        waiting.answer.resume(with: result)
      }
    }
    isBusy = false
  }

  private func results(of uploads: [Upload]) async -> [Result<Acceptance, any Error>] {
    do {
      return try await commit(uploads).map { .success($0) }
    } catch  where uploads.count > 1 {
      var results: [Result<Acceptance, any Error>] = []
      for upload in uploads { results += await self.results(of: [upload]) }
      return results
    } catch {
      return uploads.map { _ in .failure(error) }
    }
  }
}
