import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import Logging
import World

/// Closes periods and puts their key files in the folder; one export at a time.
///
/// Closing is one transaction of the database, and every file is written from what it kept: where
/// we stop in between, the next run finds a batch without a file and writes the same keys again.
actor Exporter {
  private let store: any KeyStore
  private let folder: ExportFolder
  private let shape: ExportShape
  private let signers: [KeyFileSigner]
  private let clock: any WallClock
  private let randomness: any Randomness
  private var latest: Task<[KeyFileName], any Error>?

  init(
    store: any KeyStore, folder: ExportFolder, shape: ExportShape, signers: [KeyFileSigner],
    clock: any WallClock, randomness: any Randomness
  ) {
    self.store = store
    self.folder = folder
    self.shape = shape
    self.signers = signers
    self.clock = clock
    self.randomness = randomness
  }

  /// Closes every period that has ended, writes every file that is missing and then the index.
  ///
  /// - Returns: The files written now, oldest first.
  func exportDue() async throws -> [KeyFileName] {
    try await inTurn {
      try await self.closeDue()
      return try await self.writeMissing()
    }
  }

  /// Removes what is older than the retention: first from the database, then from the index, then
  /// from the folder, so that no phone is pointed at a file that is gone.
  func removeOld() async throws {
    _ = try await inTurn {
      let now = self.clock.now
      try await self.store.removeOld(
        endedBy: now.addingTimeInterval(-KeyServerLimit.retentionSeconds), now: now)
      let written = try await self.writeMissing()
      try self.folder.removeAll(but: Set(try await self.store.batches().compactMap(\.name)))
      return written
    }
  }

  /// Runs `work` after whatever was asked for before has ended.
  private func inTurn(
    _ work: @escaping @Sendable () async throws -> [KeyFileName]
  ) async throws -> [KeyFileName] {
    let earlier = latest
    let task = Task {
      _ = await earlier?.result
      return try await work()
    }
    latest = task
    return try await task.value
  }

  private func closeDue() async throws {
    let now = clock.now
    let oldest = shape.period.boundary(
      notAfter: now.addingTimeInterval(-KeyServerLimit.retentionSeconds))
    let closed = try await store.closedUntil(region: shape.region)
    var start = max(closed, oldest)
    while shape.period.boundary(after: start) <= now {
      let end = shape.period.boundary(after: start)
      _ = try await store.close(plan(from: start, to: end))
      start = end
    }
  }

  private func plan(from start: Date, to end: Date) -> BatchPlan {
    let randomness = randomness
    return BatchPlan(
      region: shape.region, start: start, end: end,
      minimumKeys: shape.minimumKeys + randomness.number(in: 0...shape.paddingRange),
      maximumKeysPerFile: shape.maximumKeysPerFile,
      keyBytes: { randomness.bytes(UploadLimit.keyByteCount) })
  }

  /// In order, and not past a file that cannot be written: a phone whose cursor has passed a later
  /// file never looks back. The index is brought up to date in either case.
  private func writeMissing() async throws -> [KeyFileName] {
    var listed: [KeyFileName] = []
    var written: [KeyFileName] = []
    do {
      for batch in try await store.batches() {
        guard let name = batch.name else { continue }
        if !folder.holds(name) {
          try await write(batch, named: name)
          written.append(name)
        }
        listed.append(name)
      }
    } catch {
      try? folder.replaceIndex(listed)
      throw error
    }
    try folder.replaceIndex(listed)
    return written
  }

  private func write(_ batch: Batch, named name: KeyFileName) async throws {
    let export = KeyFileExport(batch: batch, signers: signers)
    let file = folder.file(name)
    try await store.withKeys(of: batch) { keys in try export.write(keys, to: file) }
  }
}
