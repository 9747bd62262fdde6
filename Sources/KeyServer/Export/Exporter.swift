import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import ServerStorage
import World

/// Closes periods and writes their key files, one export at a time.
///
/// Closing is a database transaction, and every file is written from the batches it stored. After an
/// interruption the next run finds a batch without a file and writes the same keys.
actor Exporter {
  private let store: any KeyStore
  private let folder: ExportFolder
  private let exports: [ExportConfiguration]
  private let signers: ExportSigners
  private let clock: any WallClock
  private let time: TrustedTime
  private let randomness: any Randomness
  private let checks = FileChecks()
  /// The files that the indexes list since the last run.
  private var listed: [URL] = []
  private var previousRun: Task<[String], any Error>?

  init(
    store: any KeyStore, folder: ExportFolder, exports: [ExportConfiguration],
    signers: ExportSigners, clock: any WallClock, time: TrustedTime,
    randomness: any Randomness
  ) {
    self.store = store
    self.folder = folder
    self.exports = exports
    self.signers = signers
    self.clock = clock
    self.time = time
    self.randomness = randomness
  }

  /// Closes every period that has ended, writes every file that is missing or truncated, then the indexes.
  ///
  /// - Returns: The index lines of the written files.
  func exportDue() async throws -> [String] {
    try await serialized {
      try await self.closeDue(at: try await self.time.now())
      return try await self.writeMissing()
    }
  }

  /// Creates the empty index of each export that has no files yet, so that clients of a new server get one.
  func createFirstIndexes() async throws {
    let batches = try await store.batches()
    for export in exports where !batches.contains(where: { $0.export == export.filenameRoot }) {
      try folder.createIndex(of: export.filenameRoot)
    }
  }

  /// Removes expired data from the database, then from the indexes, then from the folder, so that an index never
  /// lists a removed file.
  func removeOld() async throws {
    _ = try await serialized {
      try await self.store.removeOld(RetentionLimits(at: try await self.time.now()))
      let written = try await self.writeMissing()
      for (root, batches) in try await self.batchesByRoot() {
        try self.folder.removeAll(but: Set(batches.compactMap(\.name)), of: root)
      }
      return written
    }
  }

  /// Returns `true` if a listed file is gone, so that it has to be written again.
  func hasLostFiles() -> Bool {
    !listed.allSatisfy { FileManager.default.fileExists(atPath: $0.path) }
  }

  /// Makes the next run verify every file again.
  func forgetChecks() { checks.forget() }

  /// Runs `work` after all earlier runs, in this process and in others. Cancelling the caller does not cancel `work`.
  private func serialized(
    _ work: @escaping @Sendable () async throws -> [String]
  ) async throws -> [String] {
    let previous = previousRun
    let task = Task {
      _ = await previous?.result
      try folder.create()
      return try await FolderLock.withLock(on: folder.url) { try await work() }
    }
    previousRun = task
    return try await task.value
  }

  /// Closes all periods that are due, oldest first. Periods that end at the same time are closed in one transaction.
  private func closeDue(at now: Date) async throws {
    while let plan = ClosingPlan(
      for: exports, after: try await store.exportProgress(), at: now, randomness: randomness)
    {
      _ = try await store.close(plan)
    }
  }

  /// The batches of every configured export, and of every formerly configured export whose folder exists.
  private func batchesByRoot() async throws -> [String: [Batch]] {
    let known = Set(try await store.exportProgress().closedUntil.keys)
    let roots = known.filter(folder.exists).union(exports.map(\.filenameRoot))
    let batches = Dictionary(grouping: try await store.batches(), by: \.export)
    return Dictionary(uniqueKeysWithValues: roots.map { ($0, batches[$0] ?? []) })
  }

  /// Writes missing files in order and stops at the first failure, because a phone that has seen a later file
  /// ignores earlier ones. The index is updated in either case.
  private func writeMissing() async throws -> [String] {
    let signers = try signers.keyFileSigners(at: clock.now)
    let configuredRoots = Set(exports.map(\.filenameRoot))
    var written: [String] = []
    var files: [URL] = []
    for (root, batches) in try await batchesByRoot().sorted(by: { $0.key < $1.key }) {
      var listed: [KeyFileName] = []
      do {
        for batch in batches {
          guard let name = batch.name else { continue }
          let file = folder.file(name, of: root)
          if !(await isIntact(batch, name, of: root)) {
            // A former export keeps its files until they expire and gets no new ones.
            guard configuredRoots.contains(root) || folder.hasFile(name, of: root) else { continue }
            try await write(batch, to: file, signers: signers)
            written.append(KeyFileIndex.line(name, under: root))
          }
          listed.append(name)
          files.append(file)
        }
      } catch {
        try? folder.replaceIndex(listed, of: root)
        throw error
      }
      try folder.replaceIndex(listed, of: root)
    }
    self.listed = files
    return written
  }

  private func isIntact(_ batch: Batch, _ name: KeyFileName, of root: String) async -> Bool {
    guard let sha256 = batch.sha256, folder.hasCompleteFile(name, of: root) else { return false }
    return await checks.isIntact(folder.file(name, of: root), sha256: sha256)
  }

  /// Writes the file and verifies it. Its hash is stored before an index lists it.
  private func write(_ batch: Batch, to file: URL, signers: [KeyFileSigner]) async throws {
    let (count, padding) = try await store.withKeys(of: batch) { keys in
      var (count, padding) = (0, 0)
      _ = try KeyFileWriter.write(
        to: file, start: UInt64(batch.start.timeIntervalSince1970),
        end: UInt64(batch.end.timeIntervalSince1970), region: batch.region, signers: signers
      ) { body in
        try keys.forEach { key, kind in
          try body.append(key, isRevised: kind == .revised)
          count += 1
          if kind == .padding { padding += 1 }
        }
      }
      return (count, padding)
    }
    do {
      let sha256 = try await checks.verify(file, by: signers, count: count)
      try await store.written(
        batch, sha256: sha256, paddingCount: padding, at: try await time.now())
    } catch {
      try? FileManager.default.removeItem(at: file)
      throw error
    }
  }
}
