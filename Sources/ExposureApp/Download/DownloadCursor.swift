import Foundation
import KeyServerAPI

/// The position up to which key files have been analysed.
///
/// The position is an end timestamp in Unix seconds. A file that could not be downloaded stops it there.
/// Later files are analysed anyway and remembered by name, so that one dead link delays nothing and no
/// file is analysed twice. The property names are the JSON keys on disk.
struct DownloadCursor: Codable, Sendable, Equatable {
  /// All files that end up to this time are done; `nil` before the first index.
  private(set) var end: Int64?
  /// Analysed files that end later, with their end timestamps.
  private(set) var analysed: [String: Int64] = [:]
  /// Files that the framework refused; they are analysed one by one from then on.
  private(set) var refused: Set<String> = []
  /// Files before the position that are analysed again, because another file of their detection was withdrawn.
  private(set) var again: Set<String> = []

  /// Sets the first position to the newest file: a new phone has no encounters that older files concern.
  mutating func begin(with listed: [KeyFileName]) {
    guard end == nil else { return }
    end = listed.map(\.endTimestamp).max() ?? 0
  }

  /// The listed files that are not analysed yet, oldest first.
  func pending(in listed: [KeyFileName]) -> [KeyFileName] {
    guard let end else { return [] }
    return listed.filter {
      again.contains($0.text) || $0.endTimestamp > end && analysed[$0.text] == nil
    }.sorted()
  }

  /// Makes analysed files pending again.
  mutating func wantAgain(_ names: Set<String>) {
    again.formUnion(names)
  }

  /// Records one check and moves the position up to the first listed file that is not analysed.
  mutating func finish(
    analysed done: [KeyFileName], refused bad: [KeyFileName], listed: [KeyFileName]
  ) {
    again.subtract(done.map(\.text))
    again.formIntersection(listed.map(\.text))
    for name in done where name.endTimestamp > end ?? 0 {
      analysed[name.text] = name.endTimestamp
    }
    refused.formUnion(bad.map(\.text))
    refused.formIntersection(listed.map(\.text))
    refused.subtract(done.map(\.text))
    let firstOpen = pending(in: listed).first { !again.contains($0.text) }?.endTimestamp ?? .max
    let passed = analysed.values.filter { $0 < firstOpen }.max()
    if let passed, let end { self.end = max(end, passed) }
    analysed = analysed.filter { $0.value > (end ?? 0) }
  }
}
