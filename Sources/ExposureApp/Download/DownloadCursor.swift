import Foundation
import KeyServerAPI

/// The key files that are analysed and those that are wanted.
///
/// A file that an index has listed stays wanted until it is analysed or fourteen days old, even if a later
/// index omits it. The position is the end timestamp in Unix seconds up to which every file is done. Later
/// files are analysed anyway and remembered by name, so that one missing file does not delay the others and
/// no file is analysed twice. The property names are the JSON keys on disk.
struct DownloadCursor: Codable, Sendable, Equatable {
  private struct WantedFile: Codable, Equatable {
    let end: Int64
    /// The number of checks that could not download it.
    var failures = 0
  }

  /// The time in Unix seconds since when the phone can receive; `nil` before.
  private(set) var receiving: Int64?
  /// All files that end up to this time are done; `nil` before the first index.
  private(set) var end: Int64?
  /// Analysed files that end later, with their end timestamps.
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
  /// The files whose encounters were undone, and that are not analysed again yet.
  private var undone: Set<String> = []

  /// True if all wanted files are analysed.
  var isComplete: Bool { wanted.isEmpty }

  /// True if encounters were undone, and some of their files are not analysed again yet.
  var isUndoing: Bool { !undone.isSubset(of: search.refused.keys) }

  /// True if only files that the framework refuses are left, and an index has listed files.
  var isRestored: Bool { hasListing && wanted.keys.allSatisfy { search.refused[$0] != nil } }

  /// Records that the phone can receive. Only the first call counts.
  mutating func beginReceiving(at now: Date) {
    receiving = receiving ?? Int64(now.timeIntervalSince1970)
  }

  /// Adds the files of an index. The first index sets the position to its newest file that ended before the
  /// phone could receive, because a new phone has no encounters that older files concern.
  ///
  /// - Parameter oldest: The date up to which files have expired.
  mutating func note(_ listed: [KeyFileName], at now: Date, after oldest: Date) {
    let seconds = Int64(now.timeIntervalSince1970)
    let begin = min(receiving ?? seconds, seconds)
    let first = end ?? listed.map(\.endTimestamp).filter { $0 <= begin }.max() ?? 0
    end = first
    hasListing = hasListing || !listed.isEmpty
    expire(oldest)
    let newest = max(first, Int64(oldest.timeIntervalSince1970))
    for name in listed.suffix(DownloadLimit.wantedMax)
    where name.endTimestamp > newest && analysed[name.text] == nil {
      wanted[name.text] = wanted[name.text] ?? WantedFile(end: name.endTimestamp)
    }
  }

  /// The wanted files, oldest first; files that could not be downloaded come after the others.
  var pending: [KeyFileName] {
    wanted.compactMap { text, file in KeyFileName(text).map { (file.failures, $0) } }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.1)
  }

  /// The files for a check at `now`: of those that the framework refused before, only the ones to try again.
  func pending(at now: Date) -> [KeyFileName] {
    let postponed = search.suspects.subtracting(search.wanted(at: now))
    return Array(
      pending.filter { !postponed.contains($0.text) }.prefix(DownloadLimit.filesPerRun))
  }

  /// Records one check and moves the position up to the first file that is not analysed.
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
    let firstOpen = wanted.values.map(\.end).min() ?? .max
    let passed = analysed.values.filter { $0 < firstOpen }.max()
    if let passed, let end { self.end = max(end, passed) }
    analysed = analysed.filter { $0.value > (end ?? 0) }
  }

  /// Makes analysed files wanted again, because encounters found through them were undone.
  mutating func wantAgain(_ names: Set<String>) {
    for name in names.compactMap({ KeyFileName($0) }) {
      analysed[name.text] = nil
      undone.insert(name.text)
      wanted[name.text] = wanted[name.text] ?? WantedFile(end: name.endTimestamp)
    }
  }

  /// Forgets the analysed files, so that those of the last fourteen days are analysed again.
  mutating func restart() {
    end = 0
    analysed = [:]
    indexVersion = nil
    isRestarted = true
    hasListing = false
  }

  /// Removes files that end up to `oldest`: the phone has no contacts of their period any more.
  private mutating func expire(_ oldest: Date) {
    let end = Int64(oldest.timeIntervalSince1970)
    let expired = wanted.filter { $0.value.end <= end }.keys
    for name in expired { wanted[name] = nil }
    undone.subtract(expired)
    search.remove(Set(expired))
  }
}
