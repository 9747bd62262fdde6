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
  private let exports: [ExportConfiguration]
  private let signers: ExportSigners
  private let clock: any WallClock
  private let randomness: any Randomness
  private var latest: Task<[String], any Error>?

  init(
    store: any KeyStore, folder: ExportFolder, exports: [ExportConfiguration],
    signers: ExportSigners, clock: any WallClock, randomness: any Randomness
  ) {
    self.store = store
    self.folder = folder
    self.exports = exports
    self.signers = signers
    self.clock = clock
    self.randomness = randomness
  }

  /// Closes every period that has ended, writes every file that is missing or cut off, and then the indexes.
  ///
  /// - Returns: The files written now, by their lines in the indexes.
  func exportDue() async throws -> [String] {
    try await inTurn {
      try await self.closeDue()
      return try await self.writeMissing()
    }
  }

  /// Leaves the database as another program may read it.
  func settle() async throws { try await store.settle() }

  /// Removes what is older than the retention: first from the database, then from the index, then
  /// from the folder, so that no phone is pointed at a file that is gone.
  func removeOld() async throws {
    _ = try await inTurn {
      try await self.store.removeOld(Retention(at: self.clock.now))
      let written = try await self.writeMissing()
      for (root, batches) in try await self.batchesByRoot() {
        try self.folder.removeAll(but: Set(batches.compactMap(\.name)), of: root)
      }
      return written
    }
  }

  /// Runs `work` after whatever was asked for before has ended, here or in another process.
  private func inTurn(
    _ work: @escaping @Sendable () async throws -> [String]
  ) async throws -> [String] {
    let earlier = latest
    let task = Task {
      _ = await earlier?.result
      return try await FolderLock.holding(folder.url) { try await work() }
    }
    latest = task
    return try await task.value
  }

  /// Oldest first, and what ends together in one transaction.
  private func closeDue() async throws {
    let now = clock.now
    while let plan = ClosingPlan(
      for: exports, after: try await store.exportProgress(), at: now, randomness: randomness)
    {
      _ = try await store.close(plan)
    }
  }

  /// Of every export that is set up, and of every other that left a folder behind.
  private func batchesByRoot() async throws -> [String: [Batch]] {
    let known = Set(try await store.exportProgress().closedUntil.keys)
    let roots = known.filter(folder.isThere).union(exports.map(\.filenameRoot))
    let batches = Dictionary(grouping: try await store.batches(), by: \.export)
    return Dictionary(uniqueKeysWithValues: roots.map { ($0, batches[$0] ?? []) })
  }

  /// In order, and not past a file that cannot be written: a phone whose cursor has passed a later
  /// file never looks back. The index is brought up to date in either case.
  private func writeMissing() async throws -> [String] {
    let signers = try signers.keyFileSigners(at: clock.now)
    let isSetUp = Set(exports.map(\.filenameRoot))
    var written: [String] = []
    for (root, batches) in try await batchesByRoot().sorted(by: { $0.key < $1.key }) {
      var listed: [KeyFileName] = []
      do {
        for batch in batches {
          guard let name = batch.name else { continue }
          if !folder.holds(name, of: root) {
            // An export that was taken out keeps its files until their time is up, and gets no new ones.
            guard isSetUp.contains(root) || folder.hasName(name, of: root) else { continue }
            try await write(batch, to: folder.file(name, of: root), signers: signers)
            written.append(KeyFileIndex.line(name, under: root))
          }
          listed.append(name)
        }
      } catch {
        try? folder.replaceIndex(listed, of: root)
        throw error
      }
      try folder.replaceIndex(listed, of: root)
    }
    return written
  }

  /// All of the batch's keys, or no file.
  private func write(_ batch: Batch, to file: URL, signers: [KeyFileSigner]) async throws {
    _ = try await store.withKeys(of: batch) { keys in
      try KeyFileWriter.write(
        to: file, start: UInt64(batch.start.timeIntervalSince1970),
        end: UInt64(batch.end.timeIntervalSince1970), region: batch.region, signers: signers
      ) { body in
        try keys.forEach { key, isRevised in try body.append(key, isRevised: isRevised) }
      }
    }
  }
}
