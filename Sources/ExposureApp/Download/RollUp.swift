// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI

/// A roll-up that is downloaded instead of the files that it covers: it has the keys of all of them.
struct RollUp: Hashable, Sendable {
  /// The folder of the roll-up on the server.
  let root: String
  /// The roll-up, in several files if it has too many keys for one.
  let names: [KeyFileName]
  /// The wanted files whose keys it has.
  let covered: [KeyFileName]
}

extension RollUp {
  /// Chooses the roll-ups for a phone that wants many files, because it was off for days.
  ///
  /// No key is analysed twice: a roll-up is chosen only if its period begins after everything that was analysed. None
  /// is missing: the files outside its period are still downloaded. Of roll-ups with common files, one of which a
  /// part is analysed already comes first, then the one that saves the most downloads.
  ///
  /// - Parameters:
  ///   - wanted: All wanted files, also those for which one check has no time: a roll-up of which only a part is wanted
  ///     would pass the keys of the others, too.
  ///   - listed: The files in the index of each kind of roll-up, by its folder.
  ///   - cursor: The analysed files.
  static func choices(
    insteadOf wanted: [KeyFileName], among listed: [String: [KeyFileName]], _ cursor: DownloadCursor
  ) -> [RollUp] {
    let candidates = listed.flatMap { root, names in
      Dictionary(grouping: names) { $0.startTimestamp ?? 0 }.values.compactMap { parts in
        RollUp(root: root, parts: parts.sorted(), wanted: wanted, cursor)
      }
    }
    let ordered = candidates.sorted { $0.rank(cursor) > $1.rank(cursor) }
    var chosen: [RollUp] = []
    for candidate in ordered
    where cursor.mayUse(candidate) && !chosen.contains(where: candidate.overlaps) {
      chosen.append(candidate)
    }
    return chosen.sorted { $0.names[0] < $1.names[0] }
  }

  /// Nil if the roll-up has keys that were analysed, or saves no download.
  private init?(
    root: String, parts: [KeyFileName], wanted: [KeyFileName], _ cursor: DownloadCursor
  ) {
    guard let start = parts.first?.startTimestamp, let end = parts.last?.endTimestamp else {
      return nil
    }
    let covered = wanted.filter { name in
      (name.startTimestamp ?? 0) >= start && name.endTimestamp <= end
    }
    guard covered.count > parts.count,
      cursor.hasAnalysedNothing(from: start, to: end, except: parts)
    else { return nil }
    self.init(root: root, names: parts, covered: covered)
  }

  private func overlaps(_ other: RollUp) -> Bool {
    !Set(covered).isDisjoint(with: other.covered)
  }

  /// The saved downloads; larger for a roll-up of which a part was analysed.
  private func rank(_ cursor: DownloadCursor) -> (Int, Int, String) {
    let isBegun = names.contains { cursor.analysed[$0.text] != nil }
    return (isBegun ? 1 : 0, covered.count - names.count, names[0].text)
  }
}

/// The files that one check downloads: the wanted ones, or roll-ups instead of some of them, at most
/// `DownloadLimit.filesPerRun`.
struct DownloadPlan: Sendable {
  let rollUps: [RollUp]
  /// The files to download.
  let names: [KeyFileName]
  /// The folders on the server of the files that are not in the main one.
  let roots: [KeyFileName: String]

  init(_ wanted: [KeyFileName], insteadBy rollUps: [RollUp], _ cursor: DownloadCursor) {
    let covered = Set(rollUps.flatMap(\.covered))
    self.rollUps = rollUps
    roots = Dictionary(rollUps.flatMap { rollUp in rollUp.names.map { ($0, rollUp.root) } }) {
      first, _ in first
    }
    let all =
      roots.keys.filter { cursor.analysed[$0.text] == nil }.sorted()
      + wanted.filter { !covered.contains($0) }
    names = Array(all.prefix(DownloadLimit.filesPerRun))
  }

  /// The names of `done`, with those of the covered files in the place of a roll-up.
  func covered(by done: [KeyFileName]) -> [String] {
    done.flatMap { name in
      rollUps.first { $0.names.contains(name) }?.covered ?? [name]
    }.map(\.text)
  }
}

extension StoredState {
  /// Records the roll-ups of a check. What the search for bad files has found of them is forgotten: the files that they
  /// cover are downloaded one by one.
  ///
  /// - Parameters:
  ///   - missing: The names of files that the server did not have.
  ///   - withdrawn: The names of files that the authority has withdrawn.
  ///   - hashes: The hashes of the analysed roll-ups.
  mutating func finish(
    _ plan: DownloadPlan, missing: [KeyFileName], withdrawn: [KeyFileName],
    hashes: [KeyFileName: KeyFileHash], at now: Date
  ) {
    guard !plan.rollUps.isEmpty else { return }
    let names = Set(plan.roots.keys.map(\.text))
    let unusable = names.intersection(download.search.suspects)
      .union(withdrawn.map(\.text))
    download.search.remove(names)
    download.finish(
      plan.rollUps, missing: Set(missing.map(\.text)), unusable: unusable, hashes: hashes,
      after: oldestExposure(at: now))
  }
}
