import Foundation
import KeyServerAPI

/// Up to where the key files have been analysed. Documentation/App.md 3.2 to 3.5.
///
/// The cursor is an end timestamp, in Unix seconds. A file that could not be obtained holds it
/// back; what was analysed beyond such a file is remembered by name, so that nobody waits for a
/// notice because of a dead link, and nothing is analysed twice.
struct DownloadCursor: Codable, Sendable, Equatable {
  /// Everything that ends up to here is done; nil before the first index was seen.
  private(set) var end: Int64?
  /// Analysed files that end later, each with its end.
  private(set) var analysed: [String: Int64] = [:]
  /// Files that the framework refused; they are tried alone, so that they spoil no others.
  private(set) var refused: Set<String> = []

  /// Where a phone begins: it has heard nobody before today, so no older file concerns it.
  mutating func begin(with listed: [KeyFileName]) {
    guard end == nil else { return }
    end = listed.map(\.endTimestamp).max() ?? 0
  }

  /// The files of the index that still have to be analysed, oldest first.
  func wanted(of listed: [KeyFileName]) -> [KeyFileName] {
    guard let end else { return [] }
    return listed.filter { $0.endTimestamp > end && analysed[$0.text] == nil }.sorted()
  }

  /// Takes what one run did, and moves the cursor up to the first listed file that is still open.
  mutating func finish(
    analysed done: [KeyFileName], refused bad: [KeyFileName], listed: [KeyFileName]
  ) {
    for name in done { analysed[name.text] = name.endTimestamp }
    refused.formUnion(bad.map(\.text))
    refused.formIntersection(listed.map(\.text))
    refused.subtract(done.map(\.text))
    let firstOpen = wanted(of: listed).first?.endTimestamp ?? .max
    let passed = analysed.values.filter { $0 < firstOpen }.max()
    if let passed, let end { self.end = max(end, passed) }
    analysed = analysed.filter { $0.value > (end ?? 0) }
  }
}
