// SPDX-License-Identifier: Apache-2.0
import Terminal

/// The validity of a key as text.
struct KeyValidity {
  /// In Unix seconds; nil for no start.
  let from: Int64?
  /// In Unix seconds, exclusive; nil for no end.
  let thru: Int64?

  var text: String {
    let start = from.map { "from \(UTCTime(unixSecond: $0).text)" } ?? "from the beginning"
    return start + (thru.map { " until \(UTCTime(unixSecond: $0).text)" } ?? "")
  }
}
