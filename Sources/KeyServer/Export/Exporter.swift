// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import ServerStorage
import World

/// Closes periods and writes their key files, one export at a time.
///
/// Closing is a database transaction, and every file is written from the batches it stored. After an
/// interruption the next run finds a batch without a file and writes the same keys.
///
/// A file that is written again has other signatures, so it gets another name: caches keep what a name stands for. A
/// withdrawn file is not written again: its new hash would not be that of the withdrawn one. A file that is withdrawn
/// while it is written again is not listed, and if it was listed before, the next run removes it from the index.
actor Exporter {
  private let store: any KeyStore
  private let folder: ExportFolder
  /// The object store that has the files, too; nil for none.
  private let objects: PublishedObjects?
  private let exports: [ExportConfiguration]
  private let signers: ExportSigners
  private let calls: SignerCalls
  private let clock: any WallClock
  private let time: TrustedTime
  private let randomness: any Randomness
  /// Reads the hashes of the withdrawn files.
  private let withdrawn: @Sendable () throws -> Set<KeyFileHash>
  /// Runs when this process may export, before it does.
  private let prepare: (@Sendable () async throws -> Void)?
  private let checks = FileChecks()
  /// The files that the indexes list since the last run.
  private var listed: [String: [KeyFileName]] = [:]
  private var previousRun: Task<[String], any Error>?
  /// True if another process exported at the time of the last run, so that it has to be repeated soon.
  private(set) var isWaiting = false

  init(
    store: any KeyStore, folder: ExportFolder, exports: [ExportConfiguration],
    signers: ExportSigners, objects: PublishedObjects? = nil, calls: SignerCalls? = nil,
    clock: any WallClock, time: TrustedTime, randomness: any Randomness,
    withdrawn: @escaping @Sendable () throws -> Set<KeyFileHash>,
    prepare: (@Sendable () async throws -> Void)? = nil
  ) {
    self.store = store
    self.folder = folder
    self.exports = exports
    self.signers = signers
    self.objects = objects
    self.calls = calls ?? SignerCalls(clock: clock)
    self.clock = clock
    self.time = time
    self.randomness = randomness
    self.withdrawn = withdrawn
    self.prepare = prepare
  }

  /// Closes every period that has ended, writes every file that is missing or truncated, then the indexes.
  ///
  /// - Parameter waitsForOthers: True to wait for another process that exports; false to return no files then, and to
  ///   set `isWaiting`.
  /// - Returns: The index lines of the written files.
  /// - Throws: `KeyServerError.exportsElsewhere` if another process exports for too long.
  func exportDue(waitsForOthers: Bool = false) async throws -> [String] {
    try await serialized(waitsForOthers: waitsForOthers) {
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
  ///
  /// - Parameter waitsForOthers: As in `exportDue`.
  func removeOld(waitsForOthers: Bool = false) async throws {
    _ = try await serialized(waitsForOthers: waitsForOthers) {
      try await self.store.removeOld(RetentionLimits(at: try await self.time.now()))
      let written = try await self.writeMissing()
      try await self.removeUnlisted()
      return written
    }
  }

  /// Removes the files that no index lists.
  private func removeUnlisted() async throws {
    try await store.confirmExporting()
    for (root, names) in listed { try folder.removeAll(but: Set(names), of: root) }
    guard let objects else { return }
    let stored = try await objects.sizes()
    for (root, names) in listed {
      try await store.confirmExporting()
      try await objects.removeAll(but: Set(names), of: root, stored: stored)
    }
  }

  /// Writes every file of every index again, with the keys that sign now, and removes the earlier ones. Withdrawn files
  /// are removed and not written. Waits for another process that exports: its files have the earlier signatures.
  ///
  /// - Returns: The index lines of the written files.
  /// - Throws: `KeyServerError.exportsElsewhere` if another process exports for too long.
  func signAgain() async throws -> [String] {
    try await serialized(waitsForOthers: true) {
      let written = try await self.writeMissing(again: true)
      try await self.removeUnlisted()
      return written
    }
  }

  /// Returns `true` if another process has replaced an index in the object store, so that the folder has to follow.
  func isBehindObjects() async -> Bool {
    guard let objects else { return false }
    for root in listed.keys where await objects.hasOtherIndex(of: root) { return true }
    return false
  }

  /// Returns `true` if a listed file is gone, so that it has to be written again.
  func hasLostFiles() -> Bool {
    !listed.allSatisfy { root, names in names.allSatisfy { folder.hasFile($0, of: root) } }
  }

  /// Checks the keys that sign now, as `ExportSigners.check(at:bySigning:)`.
  ///
  /// - Throws: `KeyServerError`; `.cannotSign` also if a token does not respond.
  nonisolated func checkSigners(bySigning: Bool) async throws {
    let now = clock.now
    guard try signers.mayBlock(at: now) else {
      return try signers.check(at: now, bySigning: bySigning)
    }
    try await calls.run { [signers] in
      Result { try signers.check(at: now, bySigning: bySigning) }
    }.get()
  }

  /// Makes the next run verify every file again.
  func forgetChecks() { checks.forget() }

  /// Runs `work` after all earlier runs, in this process and in others. Cancelling the caller does not cancel `work`.
  private func serialized(
    waitsForOthers: Bool, _ work: @escaping @Sendable () async throws -> [String]
  ) async throws -> [String] {
    let (previous, prepare) = (previousRun, prepare)
    let work: @Sendable () async throws -> [String] = {
      // Within the lease: files with the signature of a revoked key are then written before its revocation signs all
      // files again.
      try await prepare?()
      return try await work()
    }
    let task = Task {
      _ = await previous?.result
      try folder.create()
      var written = try await store.exporting(into: folder.url, work)
      if waitsForOthers {
        for _ in 0..<KeyServerLimit.exportWaitSeconds where written == nil {
          try await clock.sleep(for: 1)
          written = try await store.exporting(into: folder.url, work)
        }
        guard written != nil else { throw KeyServerError.exportsElsewhere }
      }
      isWaiting = written == nil
      return written ?? []
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
  ///
  /// - Parameter again: True to write every file again.
  private func writeMissing(again: Bool = false) async throws -> [String] {
    let signers = try signers.keyFileSigners(at: clock.now)
    var (written, all): ([String], [String: [KeyFileName]]) = ([], [:])
    let batchesByRoot = try await batchesByRoot()
    let stored = try await objects?.sizes() ?? [:]
    for (root, batches) in batchesByRoot.sorted(by: { $0.key < $1.key }) {
      let batches = try await publishable(batches, of: root, in: batchesByRoot)
      var files: [ListedFile] = []
      try await objects?.fetch(batches, of: root, stored: stored)
      do {
        for batch in batches {
          switch try await state(of: batch, of: root, again: again) {
          case .intact(let name):
            files.append(ListedFile(name: name, earlierHashes: batch.earlierHashes))
          case .left: break
          case .due(let due, let name):
            try await write(due, to: folder.file(name, of: root), signers: signers)
            files.append(ListedFile(name: name, earlierHashes: batch.hashes, isNew: true))
          }
        }
      } catch {
        // The error that ends the export is reported; the next export replaces the index again.
        _ = try? await list(files, of: root, batches, stored: stored)
        throw error
      }
      files = try await list(files, of: root, batches, stored: stored)
      written += files.filter(\.isNew).map { KeyFileIndex.line($0.name, under: root) }
      all[root] = files.map(\.name)
    }
    listed = all
    return written
  }

  /// The batches of an export that may have files: all, except roll-ups that cover a withdrawn file, or one that is as
  /// old as removed files: it does not delay the removal of its keys.
  private func publishable(
    _ batches: [Batch], of root: String, in all: [String: [Batch]]
  ) async throws -> [Batch] {
    guard RollUps.isRoot(root), !batches.isEmpty else { return batches }
    let withdrawn = try await withdrawnFiles()
    let main = exports.first.flatMap { all[$0.filenameRoot] } ?? []
    let oldest = RetentionLimits(at: try await time.now()).filesEndedBy
    return RollUps.batches(
      batches.filter { $0.start > oldest },
      notCovering: main.filter { withdrawn.containsAny(of: $0.hashes) })
  }

  /// A file that is in place, with the hashes that it had before it was written again.
  private struct ListedFile {
    let name: KeyFileName
    let earlierHashes: [Data]
    var isNew = false
  }

  /// Replaces the index, unless another process exports by now. In the object store, the files come first.
  ///
  /// - Returns: The listed files: one may have been withdrawn since its state was read.
  private func list(
    _ files: [ListedFile], of root: String, _ batches: [Batch], stored: [String: Int]
  ) async throws -> [ListedFile] {
    var files = try await notWithdrawn(files)
    if RollUps.isRoot(root) {
      let complete = RollUps.completeStarts(of: batches, in: files.map(\.name))
      files.removeAll { $0.name.startTimestamp.map(complete.contains) != true }
    }
    try await put(files.map(\.name), of: root, stored: stored)
    try await store.confirmExporting()
    try await objects?.replaceIndex(files.map(\.name), of: root)
    try folder.replaceIndex(files.map(\.name), of: root)
    return files
  }

  private func put(_ names: [KeyFileName], of root: String, stored: [String: Int]) async throws {
    try await objects?.put(names, of: root, stored: stored) { [store] in
      try await store.confirmExporting()
    }
  }

  /// The files that were not withdrawn before they were written again.
  private func notWithdrawn(_ files: [ListedFile]) async throws -> [ListedFile] {
    guard files.contains(where: { !$0.earlierHashes.isEmpty }) else { return files }
    let withdrawn = try await withdrawnFiles()
    return files.filter { !withdrawn.containsAny(of: $0.earlierHashes) }
  }

  /// The files that this process or another one has withdrawn.
  private func withdrawnFiles() async throws -> Set<KeyFileHash> {
    try withdrawn().union(try await store.withdrawnFiles())
  }

  private enum FileState {
    /// The file is in place and listed.
    case intact(KeyFileName)
    /// The file is neither written nor listed.
    case left
    /// The file has to be written under this name.
    case due(Batch, KeyFileName)
  }

  private func state(of batch: Batch, of root: String, again: Bool) async throws -> FileState {
    guard let name = batch.name else { return .left }
    if !again, await isIntact(batch, name, of: root) { return .intact(name) }
    // A former export keeps its files until they expire and gets no new ones.
    let isConfigured = exports.contains { $0.filenameRoot == root }
    guard try isConfigured || hasEdition(of: name, root: root) else { return .left }
    if !batch.hashes.isEmpty, try await withdrawnFiles().containsAny(of: batch.hashes) {
      return .left
    }
    var batch = batch
    // A name that may have been served keeps its bytes.
    if batch.writtenAt != nil { batch.edition += 1 }
    let confirmed = try await store.clockRecord().confirmed
    batch.edition = max(batch.edition, batch.leastEdition(confirmed: confirmed))
    return batch.name.map { .due(batch, $0) } ?? .left
  }

  /// True if the folder has the file, or a listed earlier edition, because writing it again was interrupted after it
  /// was recorded.
  private func hasEdition(of name: KeyFileName, root: String) throws -> Bool {
    if folder.hasFile(name, of: root) { return true }
    return try folder.listedNames(of: root).contains {
      $0.isEdition(of: name) && folder.hasFile($0, of: root)
    }
  }

  private func isIntact(_ batch: Batch, _ name: KeyFileName, of root: String) async -> Bool {
    guard let sha256 = batch.sha256, folder.hasCompleteFile(name, of: root) else { return false }
    return await checks.isIntact(folder.file(name, of: root), sha256: sha256)
  }

  /// Writes the file under a name of its own, verifies it, stores its hash, and then lets it replace `file`: a process
  /// that has lost the right to export without noticing replaces and removes no file of its successor.
  private func write(_ batch: Batch, to file: URL, signers: [KeyFileSigner]) async throws {
    let unfinished = ExportFolder.unfinished(file)
    do {
      let keys = try await writeKeys(of: batch, to: unfinished, signers: signers)
      // After the transaction that reads the keys: a token may not respond.
      try await sign(keys.file, by: signers)
      let sha256 = try await checks.verify(
        unfinished, as: file.lastPathComponent, by: signers, count: keys.count)
      try await store.written(
        batch, sha256: sha256, paddingCount: keys.paddingCount, at: try await time.now())
      try AtomicFile.publish(unfinished, as: file)
      checks.note(file, sha256: sha256)
    } catch {
      FileManager.default.removeUnneeded(unfinished)
      throw error
    }
  }

  /// A file with its keys and without signatures.
  private struct WrittenKeys: Sendable {
    let file: UnsignedKeyFile
    /// All keys, revised ones and padding included.
    let count: Int
    let paddingCount: Int
  }

  private func writeKeys(
    of batch: Batch, to file: URL, signers: [KeyFileSigner]
  ) async throws -> WrittenKeys {
    try await store.withKeys(of: batch) { keys in
      var (count, padding) = (0, 0)
      let file = try UnsignedKeyFile(
        at: file, start: UInt64(batch.start.unixSecond), end: UInt64(batch.end.unixSecond),
        region: batch.region, signers: signers
      ) { body in
        try keys.forEach { key, kind in
          try body.append(key, isRevised: kind == .revised)
          count += 1
          if kind == .padding { padding += 1 }
        }
      }
      return WrittenKeys(file: file, count: count, paddingCount: padding)
    }
  }

  /// - Throws: `KeyServerError.cannotSign` if a key cannot sign, for example because its token is missing.
  private func sign(_ file: UnsignedKeyFile, by signers: [KeyFileSigner]) async throws {
    do {
      let signatures =
        signers.contains(where: \.mayBlock)
        ? try await calls.run { Result { try file.signatures(by: signers) } }.get()
        : try file.signatures(by: signers)
      try file.append(signatures)
    } catch let error as KeyFileError where error.code == .cannotSign {
      throw KeyServerError.cannotSign(error.description)
    }
  }
}

extension Set<KeyFileHash> {
  fileprivate func containsAny(of hashes: [Data]) -> Bool {
    hashes.contains { bytes in
      guard let hash = KeyFileHash(bytes) else { return false }
      return contains(hash)
    }
  }
}
