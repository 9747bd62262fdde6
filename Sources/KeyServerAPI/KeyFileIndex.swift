/// `index.txt`: the key files there are, one name a line, oldest first.
///
/// Documentation/SeedContract.md 5.1.
public struct KeyFileIndex: Hashable, Sendable {
  /// Bytes of an index that a phone is willing to read.
  public static let bytesMax = 1 << 20
  /// Names in it: two weeks of files, many times over.
  public static let nameCountMax = 10_000

  /// The files, oldest first, each once.
  public let names: [KeyFileName]
  /// Lines that were no name: skipped, so that one bad line does not hide the good ones.
  public let malformedCount: Int

  /// The index of `names`.
  public init(names: [KeyFileName]) {
    self.init(names: names, malformedCount: 0)
  }

  /// Reads what a server sent; what lies beyond the limits is counted as malformed.
  public static func parse(_ text: String) -> KeyFileIndex {
    guard text.utf8.count <= bytesMax else { return KeyFileIndex(names: [], malformedCount: 1) }
    // By bytes, since a line feed after a carriage return is one character to a String.
    let lines = text.utf8.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    let names = lines.compactMap { KeyFileName(Substring($0)) }
    let kept = Set(names).sorted().suffix(nameCountMax)
    let beyond = Set(names).count - kept.count
    return KeyFileIndex(
      names: Array(kept), malformedCount: lines.count - names.count + beyond)
  }

  /// The text to serve: the seed contract's names, or Google's paths where there is a `root`.
  ///
  /// Documentation/Exports.md 3: one path a line, relative to the server's, oldest first, no line
  /// feed at the end.
  public static func render(_ names: [KeyFileName], under root: String = "") -> String {
    names.sorted().map { line($0, under: root) }.joined(separator: "\n")
  }

  /// The line of one file: its name, behind the `root` where there is one.
  public static func line(_ name: KeyFileName, under root: String) -> String {
    root.isEmpty ? name.text : "\(root)/\(name.text)"
  }

  private init(names: [KeyFileName], malformedCount: Int) {
    self.names = names
    self.malformedCount = malformedCount
  }
}
