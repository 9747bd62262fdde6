// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Terminal

/// Keys that are counted on a progress bar while they are written.
struct CountedKeys: Sequence {
  private let keys: [DiagnosisKey]
  /// The number of keys before these.
  private let first: Int
  private let all: Int
  private let bar: ProgressLine

  /// The bar changes after this number of keys.
  private static let step = 4_096

  init(_ keys: [DiagnosisKey], after first: Int = 0, of all: Int, on bar: ProgressLine) {
    (self.keys, self.first, self.all, self.bar) = (keys, first, all, bar)
  }

  func makeIterator() -> some IteratorProtocol<DiagnosisKey> {
    keys.enumerated().lazy.map { [first, all, bar] index, key in
      if index.isMultiple(of: Self.step) { bar.show(first + index, of: all) }
      return key
    }.makeIterator()
  }
}
