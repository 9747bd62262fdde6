import Foundation

/// How one period is to be closed.
struct BatchPlan: Sendable {
  /// Whose keys.
  let region: String
  /// When the period began.
  let start: Date
  /// When it ended; keys released before go in.
  let end: Date
  /// How many keys there are to be at least, where there is one at all.
  let minimumKeys: Int
  /// How many keys one file may hold.
  let maximumKeysPerFile: Int
  /// Draws the bytes of one padding key.
  let keyBytes: @Sendable () -> [UInt8]

  /// One file of the batch.
  struct File: Hashable {
    let start: Date
    let end: Date
    let keyCount: Int
  }

  /// The files for `count` keys, as even as can be. Each later one ends a second later, so that no
  /// two files share a cursor position: Documentation/SeedContract.md 5.2.
  func files(forKeys count: Int) -> [File] {
    let fileCount = (count + maximumKeysPerFile - 1) / maximumKeysPerFile
    return (0..<fileCount).map { number in
      let first = count * number / fileCount
      let next = count * (number + 1) / fileCount
      return File(
        start: start, end: end.addingTimeInterval(TimeInterval(number)), keyCount: next - first)
    }
  }
}
