// SPDX-License-Identifier: Apache-2.0
/// `index.txt`: the names of the available key files, one a line, oldest first.
public struct KeyFileIndex: Hashable, Sendable {
  /// The maximum size that a phone reads, in bytes.
  public static let bytesMax = 1 << 20
  /// The maximum number of names, many times that of two weeks of files.
  public static let nameCountMax = 10_000

  /// The names without duplicates, oldest first.
  public let names: [KeyFileName]
  /// The number of skipped lines. An invalid line does not hide the valid ones.
  public let malformedCount: Int

  /// Creates an index.
  public init(names: [KeyFileName]) {
    self.init(names: names, malformedCount: 0)
  }

  /// Parses the response of a server. Names beyond the limits count as malformed.
  public static func parse(_ text: String) -> KeyFileIndex {
    guard text.utf8.count <= bytesMax else { return KeyFileIndex(names: [], malformedCount: 1) }
    // By bytes, because CR LF is a single Character. Some servers and editors put a byte order mark before the text.
    let bytes =
      text.utf8.starts(with: byteOrderMark)
      ? text.utf8.dropFirst(byteOrderMark.count) : text.utf8[...]
    let lines = bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    let names = lines.compactMap { KeyFileName(Substring($0)) }
    let kept = Set(names).sorted().suffix(nameCountMax)
    let beyond = Set(names).count - kept.count
    return KeyFileIndex(
      names: Array(kept), malformedCount: lines.count - names.count + beyond)
  }

  /// The text to serve, oldest first, without a line feed at the end: names as in the ProteGO Safe
  /// contract, or paths as in Google's layout if there is a `root`.
  public static func render(_ names: [KeyFileName], under root: String = "") -> String {
    names.sorted().map { line($0, under: root) }.joined(separator: "\n")
  }

  /// The line of one file: its name, prefixed with `root` unless that is empty.
  public static func line(_ name: KeyFileName, under root: String) -> String {
    root.isEmpty ? name.text : "\(root)/\(name.text)"
  }

  /// U+FEFF in UTF-8.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private init(names: [KeyFileName], malformedCount: Int) {
    self.names = names
    self.malformedCount = malformedCount
  }
}
