import Foundation

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
