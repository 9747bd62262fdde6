// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import ServerStorage
import Synchronization

@testable import KeyServer

/// An in-memory implementation of `KeyStore`: the reference for the tests of `SQLiteKeyStore`.
final class MemoryKeyStore: KeyStore {
  private struct StoredKey {
    let key: PublishableKey
    var revision: PublishableKey?

    /// The key as it is published in a period that ends at `end`.
    func published(by end: Date) -> DiagnosisKey {
      guard let revision, revision.releasedAt < end else { return key.key }
      return DiagnosisKey(
        key: key.key.key, transmissionRiskLevel: revision.key.transmissionRiskLevel,
        reportType: revision.key.reportType,
        daysSinceOnsetOfSymptoms: revision.key.daysSinceOnsetOfSymptoms) ?? key.key
    }
  }

  private struct State {
    var keys: [Data: StoredKey] = [:]
    var uploads: [Data: (digest: Data, response: Data, keptUntil: Date)] = [:]
    var counts: [StatisticCount.Place: Int] = [:]
    var progress = ExportProgress()
    var files: [Batch] = []
    var register = RegistryEntries()
    var sealingKeys: [SealedRevisionKey] = []
    var clock = ClockRecord()
    var imports = ImportedFiles()
  }

  private let state = Mutex(State())
  private let readers = Mutex(0)

  /// True while the keys of a file are read, which other stores do in a transaction.
  var isReadingKeys: Bool { readers.withLock { $0 > 0 } }

  /// Adds the new ones of `exports`. The first ones also get the keys that were stored before them.
  func begin(_ exports: [ExportConfiguration], at now: Date) {
    state.withLock { state in
      let isFirst = state.progress.closedUntil.isEmpty
      state.progress.begin(exports, at: now)
      guard isFirst, !exports.isEmpty else { return }
      let openFrom = state.progress.openFrom
      state.keys = state.keys.mapValues {
        StoredKey(key: $0.key.released(from: openFrom), revision: $0.revision)
      }
    }
  }

  func acceptance(of upload: AdmittedUpload) async throws -> Acceptance? {
    state.withLock { Self.acceptance(of: upload, in: $0) }
  }

  private static func acceptance(of upload: AdmittedUpload, in state: State) -> Acceptance? {
    state.uploads[upload.token.digest].map {
      $0.digest == upload.digest ? .accepted(response: $0.response) : .tokenUsed
    }
  }

  func accept(_ upload: AdmittedUpload) async throws -> Acceptance {
    try state.withLock { state in
      if let earlier = Self.acceptance(of: upload, in: state) { return earlier }
      let stored = upload.keys.compactMap { key in
        state.keys[Data(key.bytes)].map {
          (
            Data(key.bytes),
            StoredReport(
              type: $0.key.key.reportType, revisedType: $0.revision?.key.reportType)
          )
        }
      }
      let decision: AdmittedUpload.Decision
      do {
        decision = try upload.decision(known: Dictionary(stored) { $1 })
      } catch let refusal as RevisionRefusal {
        return .refused(refusal)
      }
      state.uploads[upload.token.digest] = (
        upload.digest, decision.response, upload.token.keptUntil
      )
      for key in decision.plan.inserted { Self.insert(key, into: &state) }
      for key in decision.plan.revised {
        state.keys[Data(key.bytes)]?.revision = key.released(from: state.progress.openFrom)
      }
      var tally = StatisticTally()
      tally.add(upload.facts, decision.plan.outcome)
      for count in tally.counts { state.counts[count.place, default: 0] += count.count }
      return .accepted(response: decision.response)
    }
  }

  /// Inserts a key unless one with the same bytes exists.
  private static func insert(_ key: PublishableKey, into state: inout State) {
    guard state.keys[Data(key.bytes)] == nil else { return }
    state.keys[Data(key.bytes)] = StoredKey(key: key.released(from: state.progress.openFrom))
  }
}

extension MemoryKeyStore {
  func exportProgress() async throws -> ExportProgress { state.withLock { $0.progress } }

  func closing<Result: Sendable>(
    _ body: @escaping @Sendable (any ClosingRows) throws -> Result
  ) async throws -> Result {
    try state.withLock { state in
      let rows = MemoryClosingRows(state)
      let result = try body(rows)
      state = rows.state
      return result
    }
  }

  /// A copy of the state, which replaces it when the transaction ends.
  private final class MemoryClosingRows: ClosingRows {
    var state: State

    init(_ state: State) {
      self.state = state
    }

    func progress() -> ExportProgress { state.progress }

    func setClosed(_ root: String, until end: Date) { state.progress.closedUntil[root] = end }

    func releasedCounts(of selections: [CountedSelection]) -> [Int] {
      selections.map { MemoryKeyStore.released(in: $0.selection, of: state).count }
    }

    func revisedCount(in selection: KeySelection) -> Int {
      MemoryKeyStore.revised(in: selection, of: state).count
    }

    func released(in selection: KeySelection, atMost count: Int) -> [PublishableKey] {
      MemoryKeyStore.released(in: selection, of: state).prefix(count).map {
        PublishableKey(
          key: $0.published(by: selection.end), regions: $0.key.regions, travels: $0.key.travels,
          releasedAt: $0.key.releasedAt)
      }
    }

    func keys(at positions: Set<Int>, in selection: KeySelection) -> [Data] {
      let all =
        MemoryKeyStore.released(in: selection, of: state)
        + MemoryKeyStore.revised(in: selection, of: state)
      let sorted = all.map { Data($0.key.bytes) }.sorted { $0.lexicographicallyPrecedes($1) }
      return positions.sorted().map { sorted[$0] }
    }

    func insert(_ padding: [PublishableKey]) {
      for key in padding { state.keys[Data(key.bytes)] = StoredKey(key: key) }
    }

    func insert(_ batches: [Batch]) { state.files += batches }
  }

  func batches() async throws -> [Batch] {
    state.withLock { $0.files.sorted { ($0.end, $0.export) < ($1.end, $1.export) } }
  }

  func withKeys<Result: Sendable>(
    of batch: Batch, _ body: @escaping @Sendable (BatchKeys) throws -> Result
  ) async throws -> Result {
    let (released, revised) = state.withLock {
      (Self.released(in: batch.selection, of: $0), Self.revised(in: batch.selection, of: $0))
    }
    readers.withLock { $0 += 1 }
    defer { readers.withLock { $0 -= 1 } }
    return try body(
      BatchKeys { each in
        for held in released {
          try each(
            held.published(by: batch.selection.end), held.key.isPadding ? .padding : .uploaded)
        }
        for held in revised { try each(held.published(by: batch.selection.end), .revised) }
      })
  }

  /// The keys of a file in the order of their bytes, without those revoked before their publication.
  private static func released(in selection: KeySelection, of state: State) -> [StoredKey] {
    keys(in: selection, of: state) {
      (selection.start..<selection.end).contains($0.key.releasedAt)
        && $0.published(by: selection.end).reportType != .revoked
    }
  }

  /// The keys that were published before the period and revised in it.
  private static func revised(in selection: KeySelection, of state: State) -> [StoredKey] {
    keys(in: selection, of: state) { held in
      held.key.releasedAt < selection.start
        && held.revision.map {
          (selection.start..<selection.end).contains($0.releasedAt)
        } ?? false
    }
  }

  private static func keys(
    in selection: KeySelection, of state: State, where isIncluded: (StoredKey) -> Bool
  ) -> [StoredKey] {
    state.keys.filter { bytes, held in
      let isAfter = selection.firstKey.map { !bytes.lexicographicallyPrecedes($0) } ?? true
      let isBefore = selection.beforeKey.map { bytes.lexicographicallyPrecedes($0) } ?? true
      return isAfter && isBefore && selection.filter.admits(held.key) && isIncluded(held)
    }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }

  func removeOld(_ retention: RetentionLimits) async throws {
    state.withLock { state in
      state.files.removeAll { $0.end <= retention.filesEndedBy }
      let files = state.files.filter { !RollUps.isRoot($0.export) }
      let first = retention.keysFrom(oldestFile: files.map(\.start).min())
      state.keys = state.keys.filter { _, held in
        held.key.releasedAt >= first || held.revision.map { $0.releasedAt >= first } ?? false
      }
      state.uploads = state.uploads.filter { $0.value.keptUntil > retention.now }
      state.counts = state.counts.filter { $0.key.hour >= retention.countsFrom }
    }
  }
}

extension MemoryKeyStore {
  func importedFiles() async throws -> ImportedFiles { state.withLock { $0.imports } }

  func importKeys(_ imported: ImportedKeys) async throws -> (inserted: Int, revised: Int) {
    state.withLock { state in
      guard state.imports.hashes.insert(imported.sha256).inserted else { return (0, 0) }
      state.imports.names.insert(imported.source)
      let before = state.keys.count
      for key in imported.keys { Self.insert(key, into: &state) }
      var revised = 0
      for key in imported.revised {
        let known = state.keys[Data(key.bytes)].map {
          StoredReport(type: $0.key.key.reportType, revisedType: $0.revision?.key.reportType)
        }
        switch RevisionRule.outcome(ofImported: key.key, known: known) {
        case .insert: Self.insert(key, into: &state)
        case .revise:
          state.keys[Data(key.bytes)]?.revision = key.released(from: state.progress.openFrom)
          revised += 1
        case .leave, .drop, .refuse: break
        }
      }
      return (state.keys.count - before, revised)
    }
  }

  func statistics(of issuer: String, from start: Int64) async throws -> [StatisticCount] {
    state.withLock { state in
      state.counts.filter { $0.key.issuer == issuer && $0.key.hour >= start }.map {
        StatisticCount(place: $0.key, count: $0.value)
      }
    }
  }

  func registryEntries() async throws -> RegistryEntries {
    state.withLock { state in
      var entries = state.register
      entries.apps.sort { $0.id < $1.id }
      entries.authorities.sort { $0.issuer < $1.issuer }
      entries.keys = entries.keys.filter { !$0.value.isEmpty }.mapValues { keys in
        keys.sorted { ($0.goodFrom, $0.keyID) < ($1.goodFrom, $1.keyID) }
      }
      return entries
    }
  }

  func changeApp(
    _ id: String,
    _ change: @escaping @Sendable (AuthorizedApp?, RegistryEntries) throws -> AuthorizedApp
  ) async throws {
    try state.withLock { state in
      let app = try change(state.register.apps.first { $0.id == id }, state.register)
      state.register.apps.removeAll { $0.id == app.id }
      state.register.apps.append(app)
    }
  }

  func keepServedIssuer(_ issuer: String) async throws {
    state.withLock { $0.register.servedIssuer = issuer }
  }

  func removeApp(_ id: String) async throws -> Bool {
    state.withLock { state in
      let count = state.register.apps.count
      state.register.apps.removeAll { $0.id == id }
      return state.register.apps.count < count
    }
  }

  func changeAuthority(
    _ issuer: String,
    _ change: @escaping @Sendable (HealthAuthority?, RegistryEntries) throws -> HealthAuthority
  ) async throws {
    try state.withLock { state in
      let stored = state.register.authorities.first { $0.issuer == issuer }
      let authority = try change(stored, state.register)
      var bare = authority
      bare.publicKeysPEM = [:]
      state.register.authorities.removeAll { $0.issuer == authority.issuer }
      state.register.authorities.append(bare)
      let known = state.register.keys[authority.issuer] ?? []
      state.register.keys[authority.issuer] = AuthorityKeyRule.adding(
        authority.publicKeysPEM, isPulled: false,
        to: AuthorityKeyRule.keeping(known, of: stored, changedTo: authority))
    }
  }

  func removeAuthority(_ issuer: String) async throws -> Bool {
    state.withLock { state in
      let count = state.register.authorities.count
      state.register.authorities.removeAll { $0.issuer == issuer }
      state.register.keys[issuer] = AuthorityKeyRule.removing(state.register.keys[issuer] ?? [])
      for index in state.register.apps.indices {
        state.register.apps[index].authorities.remove(issuer)
      }
      return state.register.authorities.count < count
    }
  }

  func withdrawKey(_ keyID: String, of issuer: String, at now: Date) async throws -> Bool {
    state.withLock { state in
      let known = state.register.keys[issuer] ?? []
      let changed = AuthorityKeyRule.withdrawing(keyID, from: known, at: now)
      state.register.keys[issuer] = changed
      return changed != known
    }
  }

  func replacePulledKeys(
    of issuer: String, with keys: [String: String], at now: Date, othersEnd end: Date
  ) async throws -> Bool {
    state.withLock { state in
      let known = state.register.keys[issuer] ?? []
      let changed = AuthorityKeyRule.pulling(keys, into: known, at: now, othersEnd: end)
      state.register.keys[issuer] = changed
      return Set(changed) != Set(known)
    }
  }

  func revisionKeys() async throws -> [SealedRevisionKey] {
    state.withLock {
      $0.sealingKeys.sorted { ($0.effectiveFrom, $0.id) < ($1.effectiveFrom, $1.id) }
    }
  }

  func written(_ batch: Batch, sha256: Data, paddingCount: Int, at now: Date) async throws {
    state.withLock { state in
      for index in state.files.indices
      where state.files[index].export == batch.export && state.files[index].end == batch.end {
        if let earlier = state.files[index].sha256 {
          state.files[index].earlierHashes.append(earlier)
        }
        state.files[index].sha256 = sha256
        state.files[index].paddingCount = paddingCount
        state.files[index].edition = batch.edition
        state.files[index].writtenAt = state.files[index].writtenAt ?? now
      }
    }
  }

  func check() async throws -> StoreCheck { StoreCheck() }

  func isInPlace() -> Bool { true }

  func isLogOverdue() -> Bool { false }

  func skippedKeyCount() -> Int { 0 }

  func clockRecord() async throws -> ClockRecord { state.withLock { $0.clock } }

  func keep(_ now: Date) async throws { state.withLock { $0.clock.newest = now } }

  func add(_ key: SealedRevisionKey, forgetting ids: [String]) async throws {
    state.withLock { state in
      state.sealingKeys.append(key)
      state.sealingKeys.removeAll { ids.contains($0.id) }
    }
  }
}
