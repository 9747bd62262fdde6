// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// The key files that are analysed and those that are wanted.
///
/// A file that an index has listed stays wanted until it is analysed or fourteen days old, even if other
/// indexes omit it. Analysed files are remembered by name as long, so that no file is analysed twice. The
/// position is the end timestamp in Unix seconds before the first wanted file; it does not decide what is
/// wanted, because an index may omit earlier files. The property names are the JSON keys on disk.
struct DownloadCursor: Codable, Sendable, Equatable {
  private struct WantedFile: Codable, Equatable {
    let end: Int64
    /// The number of checks that could not download it.
    var failures = 0
  }

  private struct AnalysedRollUp: Codable, Equatable {
    let covered: [String]
    let hash: KeyFileHash?
  }

  /// The time in Unix seconds since when the phone can receive; `nil` before.
  private(set) var receiving: Int64?
  /// The end of the last file before the first wanted one; `nil` before the first index.
  private(set) var end: Int64?
  /// Files that end up to this time are never wanted; `nil` before the first index, and in the state of a
  /// version in which the position decided.
  private var floor: Int64?
  /// The end of the newest file that an index has listed; `nil` before the first.
  private var newest: Int64?
  /// The analysed files of the last fourteen days, with their end timestamps.
  private(set) var analysed: [String: Int64] = [:]
  /// The search for files that the framework refuses.
  var search = FileSearch()
  /// The version of the last index, for a conditional request.
  var indexVersion: ResponseVersion?
  /// True from `restart()` until all wanted files are analysed.
  private(set) var isRestarted = false
  /// True if an index since `restart()` has listed files.
  private(set) var hasListing = false
  private var wanted: [String: WantedFile] = [:]
  /// The analysed roll-ups; `nil` in the state of an earlier version.
  private var rollUps: [String: AnalysedRollUp]?
  /// The checks in which a roll-up could not be downloaded; `nil` in the state of an earlier version.
  private var rollUpFailures: [String: Int]?
  /// The files whose encounters were undone, and that are not analysed again yet.
  private var undone: Set<String> = []

  /// True if all wanted files are analysed.
  var isComplete: Bool { wanted.isEmpty }

  /// True if encounters were undone, and some of their files are not analysed again yet.
  var isUndoing: Bool { !undone.isSubset(of: search.refused.keys) }

  /// True if only files that the framework refuses are left, and an index has listed files.
  var isRestored: Bool { hasListing && wanted.keys.allSatisfy { search.refused[$0] != nil } }

  /// Returns `true` if indexes have listed no file that ends after `date`, and the phone could receive before.
  func hasNoFile(since date: Date) -> Bool {
    (newest ?? receiving).map { $0 <= date.unixSecond } ?? false
  }

  /// Records that the phone can receive. The earliest time counts.
  mutating func beginReceiving(at now: Date) {
    receiving = min(receiving ?? .max, now.unixSecond)
  }

  /// Adds the files of an index. Files up to the newest one in the first index that ended before the phone
  /// could receive are never wanted, because a new phone has no encounters that they concern.
  ///
  /// - Parameter oldest: The date up to which files have expired.
  mutating func note(_ listed: [KeyFileName], at now: Date, after oldest: Date) {
    let begin = min(receiving ?? .max, now.unixSecond)
    let first = floor ?? end ?? listed.map(\.endTimestamp).filter { $0 <= begin }.max() ?? 0
    floor = first
    hasListing = hasListing || !listed.isEmpty
    newest = [newest, listed.last?.endTimestamp].compactMap(\.self).max()
    expire(oldest)
    forgetEarlierEditions(of: listed)
    forgetRemoved(from: listed)
    let newest = max(first, oldest.unixSecond)
    let new = listed.filter { $0.endTimestamp > newest && analysed[$0.text] == nil }
    for name in new.suffix(DownloadLimit.wantedMax) {
      wanted[name.text] = wanted[name.text] ?? WantedFile(end: name.endTimestamp)
    }
    movePosition()
  }

  /// The wanted files, oldest first; files that could not be downloaded come after the others.
  var pending: [KeyFileName] {
    wanted.compactMap { text, file in KeyFileName(text).map { (file.failures, $0) } }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.1)
  }

  /// The files for a check at `now`: of those that the framework refused before, only the ones to try again.
  func pending(at now: Date) -> [KeyFileName] {
    let postponed = search.suspects.subtracting(search.wanted(at: now))
    return pending.filter { !postponed.contains($0.text) }
  }

  /// Returns `true` if no file with keys of the period from `start` to `end` was analysed, except `names`.
  func hasAnalysedNothing(from start: Int64, to end: Int64, except names: [KeyFileName]) -> Bool {
    // Later files of one period end some seconds after the first.
    let position = self.end ?? floor ?? .max
    guard position < start + DownloadLimit.filesPerPeriodMax else { return false }
    let excepted = Set(names.map(\.text))
    return analysed.keys.allSatisfy { text in
      guard !excepted.contains(text), let name = KeyFileName(text) else { return true }
      let first = name.startTimestamp ?? name.endTimestamp - 1
      return first >= end || name.endTimestamp < start + DownloadLimit.filesPerPeriodMax
    }
  }

  /// Returns `false` if a roll-up could not be used before, so that the files that it covers are downloaded.
  func mayUse(_ rollUp: RollUp) -> Bool {
    rollUp.names.allSatisfy { rollUpFailures?[$0.text] ?? 0 < DownloadLimit.rollUpFailuresMax }
  }

  /// The analysed roll-ups that are withdrawn: the files that they cover have to be analysed.
  func rollUps(among withdrawn: Set<KeyFileHash>) -> Set<String> {
    Set(
      (rollUps ?? [:]).filter { text, rollUp in
        analysed[text] != nil && rollUp.hash.map(withdrawn.contains) ?? false
      }.keys)
  }

  /// Records the roll-ups of one check: the files that a complete one covers count as analysed.
  ///
  /// - Parameters:
  ///   - missing: The files that could not be downloaded.
  ///   - unusable: The files that the framework refused or the health authority has withdrawn.
  ///   - hashes: The hashes of the analysed roll-ups.
  mutating func finish(
    _ rollUps: [RollUp], missing: Set<String>, unusable: Set<String>,
    hashes: [KeyFileName: KeyFileHash], after oldest: Date
  ) {
    var (known, failures) = (self.rollUps ?? [:], rollUpFailures ?? [:])
    for rollUp in rollUps {
      for name in rollUp.names {
        if unusable.contains(name.text) {
          analysed[name.text] = nil
          failures[name.text] = DownloadLimit.rollUpFailuresMax
        } else if missing.contains(name.text) {
          failures[name.text, default: 0] += 1
        }
        guard analysed[name.text] != nil else { continue }
        known[name.text] = AnalysedRollUp(
          covered: rollUp.covered.map(\.text), hash: hashes[name] ?? known[name.text]?.hash)
      }
      guard rollUp.names.allSatisfy({ analysed[$0.text] != nil }) else { continue }
      finish(analysed: rollUp.covered, missing: [], after: oldest)
    }
    let isKept = { (text: String) in
      KeyFileName(text).map { $0.endTimestamp > oldest.unixSecond } ?? false
    }
    self.rollUps = known.filter { isKept($0.key) }
    rollUpFailures = failures.filter { isKept($0.key) }
  }

  /// Records one check.
  mutating func finish(analysed done: [KeyFileName], missing: [KeyFileName], after oldest: Date) {
    for name in done {
      analysed[name.text] = name.endTimestamp
      wanted[name.text] = nil
      undone.remove(name.text)
    }
    search.remove(Set(done.map(\.text)))
    for name in missing { wanted[name.text]?.failures += 1 }
    expire(oldest)
    if wanted.isEmpty { isRestarted = false }
  }

  /// Moves the position before the first file that is not analysed.
  private mutating func movePosition() {
    guard let floor else { return }
    let firstOpen = wanted.values.map(\.end).min() ?? .max
    let kept = end.flatMap { $0 < firstOpen ? $0 : nil } ?? floor
    end = max(kept, analysed.values.filter { $0 < firstOpen }.max() ?? kept)
  }

  /// Forgets files that the server has written again under new names, for example with a new signature. It does not
  /// serve the earlier ones any more, and they would be missing until they expire.
  private mutating func forgetEarlierEditions(of listed: [KeyFileName]) {
    let (names, byEnd) = (Set(listed), Dictionary(grouping: listed, by: \.endTimestamp))
    for earlier in Set(wanted.keys).union(analysed.keys).compactMap({ KeyFileName($0) })
    where !names.contains(earlier) {
      let later = byEnd[earlier.endTimestamp]?.first { $0.isLaterEdition(of: earlier) }
      guard let later else { continue }
      (wanted[earlier.text], analysed[earlier.text]) = (nil, nil)
      if undone.remove(earlier.text) != nil { undone.insert(later.text) }
      search.remove([earlier.text])
    }
  }

  /// Forgets the files of undone roll-ups that the index does not list. Some may be withdrawn and removed, and only
  /// their names are known, not their hashes. If an index lists them later, they are wanted again.
  private mutating func forgetRemoved(from listed: [KeyFileName]) {
    guard !listed.isEmpty, !undone.isEmpty, let rollUps else { return }
    let covered = Set(rollUps.values.flatMap(\.covered)).compactMap { KeyFileName($0) }
    for name in undone.subtracting(listed.map(\.text)).compactMap({ KeyFileName($0) })
    where covered.contains(where: { $0 == name || name.isLaterEdition(of: $0) }) {
      wanted[name.text] = nil
      undone.remove(name.text)
      search.remove([name.text])
    }
  }

  /// The name under which the server has listed a file last.
  private func current(_ name: KeyFileName) -> KeyFileName {
    guard analysed[name.text] == nil, wanted[name.text] == nil else { return name }
    let known = Set(analysed.keys).union(wanted.keys).compactMap { KeyFileName($0) }
    return known.filter { $0.isLaterEdition(of: name) }.max() ?? name
  }

  /// Makes analysed files wanted again, because encounters found through them were undone. In the place of a roll-up
  /// the files that it covers are wanted, and the whole index tells which of them are still served.
  mutating func wantAgain(_ names: Set<String>) {
    for name in names where rollUps?[name] != nil { (analysed[name], indexVersion) = (nil, nil) }
    let files = Set(names.flatMap { rollUps?[$0]?.covered ?? [$0] })
    for name in files.compactMap({ KeyFileName($0) }).map(current) {
      analysed[name.text] = nil
      undone.insert(name.text)
      wanted[name.text] = wanted[name.text] ?? WantedFile(end: name.endTimestamp)
    }
  }

  /// Forgets the analysed files, so that those of the last fourteen days are analysed again.
  mutating func restart() {
    (end, floor) = (0, 0)
    analysed = [:]
    indexVersion = nil
    isRestarted = true
    hasListing = false
  }

  /// Forgets files that end up to `oldest`: the phone has no contacts of their period any more.
  private mutating func expire(_ oldest: Date) {
    let end = oldest.unixSecond
    let expired = wanted.filter { $0.value.end <= end }.keys
    for name in expired { wanted[name] = nil }
    undone.subtract(expired)
    search.remove(Set(expired))
    movePosition()
    analysed = analysed.filter { $0.value > end }
  }
}

/// The binary search for a bad file among key files that the framework rejected in one call.
///
/// Each step splits a group of rejected files, so the number of calls is logarithmic in its size. The calls
/// are limited, because the framework allows few calls a day and new files need them. The search continues
/// with the next check. The property names are the JSON keys on disk.
struct FileSearch: Codable, Sendable, Equatable {
  /// Files to pass to the framework in one call.
  struct Group: Codable, Sendable, Equatable {
    var names: [String]
    /// True if at least one of the files is bad.
    var isBad = false
    /// The first file of the other half. If that half is good, this one is bad; if it is bad, this one is
    /// probably good.
    var otherHalf: String?
  }

  /// The groups that have not been analysed.
  private(set) var groups: [Group] = []
  /// The files that the framework refused alone, and the time of the last attempt.
  private(set) var refused: [String: Date] = [:]
  /// The times of the calls for the search in the last day.
  private(set) var calls: [Date] = []

  /// The files that are not analysed together with new ones.
  var suspects: Set<String> { Set(groups.flatMap(\.names)).union(refused.keys) }

  /// The files of the search that may be passed to the framework at `now`.
  func wanted(at now: Date) -> Set<String> {
    Set(groups.flatMap(\.names)).union(dueRefused(at: now))
  }

  /// Returns the next files for one call, all of them in `available`; `nil` if there are none or no call is
  /// left. The caller passes them to the framework and reports the result by `accept` or `refuse`.
  ///
  /// - Parameter isFree: True if the call does not count, because the check has made no other.
  mutating func next(
    available: Set<String>, limit: Int, isFree: Bool, at now: Date
  ) -> [String]? {
    calls.removeAll { abs(now.timeIntervalSince($0)) >= RemovalRule.daySeconds }
    guard isFree || calls.count < limit,
      let names = nextGroup(available) ?? nextRefused(available, at: now)
    else { return nil }
    if !isFree { calls.append(now) }
    return names
  }

  /// Records that the framework rejected these files in one call. Their other half is analysed together with
  /// new files again, because it is probably good.
  mutating func refuse(_ names: [String], at now: Date) {
    groups.removeAll { $0.names == names || $0.otherHalf == names.first }
    if names.count == 1 {
      refused[names[0]] = now
    } else {
      groups.append(Group(names: names, isBad: true))
    }
  }

  /// Records that the framework accepted these files in one call.
  mutating func accept(_ names: [String], at now: Date) {
    let halves = groups.filter { $0.otherHalf == names.first }
    remove(Set(names))
    for half in halves { refuse(half.names, at: now) }
  }

  /// Removes expired files. A group that lost a file may be good.
  mutating func remove(_ names: Set<String>) {
    refused = refused.filter { !names.contains($0.key) }
    groups = groups.compactMap { group in
      let left = group.names.filter { !names.contains($0) }
      guard left.count < group.names.count else { return group }
      return left.isEmpty ? nil : Group(names: left)
    }
  }

  /// Forgets the verdicts, because the keys that the framework trusts have changed. The calls still count.
  mutating func startOver() { (groups, refused) = ([], [:]) }

  /// Returns the next group to pass. Groups that may be good come first. A bad group is split, and its first
  /// half is returned.
  private mutating func nextGroup(_ available: Set<String>) -> [String]? {
    let usable = groups.indices.filter { available.isSuperset(of: groups[$0].names) }
    guard let index = usable.first(where: { !groups[$0].isBad }) ?? usable.first else { return nil }
    let names = groups[index].names
    guard groups[index].isBad else { return names }
    let half = Array(names.prefix(max(names.count / 2, 1)))
    groups[index] = Group(names: half)
    groups.append(Group(names: Array(names.dropFirst(half.count)), otherHalf: half.first))
    return half
  }

  /// Returns a file that was rejected alone a day ago or earlier: the server may have replaced it.
  private func nextRefused(_ available: Set<String>, at now: Date) -> [String]? {
    dueRefused(at: now).intersection(available)
      .min { (refused[$0] ?? now, $0) < (refused[$1] ?? now, $1) }.map { [$0] }
  }

  private func dueRefused(at now: Date) -> Set<String> {
    Set(refused.filter { abs(now.timeIntervalSince($0.value)) >= RemovalRule.daySeconds }.keys)
  }
}
