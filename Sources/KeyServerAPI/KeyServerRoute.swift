// SPDX-License-Identifier: Apache-2.0
/// The paths of the key server, shared by app and server.
public enum KeyServerRoute {
  /// Uploads the keys of a diagnosed user, ProteGO Safe contract (POST).
  public static let upload = "/uploadDiagnosisKeys"
  /// Uploads the keys of a diagnosed user, Google's contract (POST).
  public static let publish = "/v1/publish"
  /// Returns the upload counts of a health authority (POST).
  public static let statistics = "/v1/stats"
  /// The names of the key files, oldest first (GET).
  public static let index = "/index.txt"
  /// The device configuration, signed by the root key (GET).
  public static let deviceConfiguration = "/device-configuration.json"
  /// The signed remote configuration (GET).
  public static let remoteConfiguration = "/remote-configuration.json"

  /// One key file (GET).
  public static func keyFile(_ name: KeyFileName) -> String { "/" + name.text }

  /// The index of the export under `root`, which is empty for the ProteGO Safe contract (GET).
  public static func index(of root: String) -> String {
    root.isEmpty ? index : "/\(root)\(index)"
  }

  /// One key file of the export under `root` (GET).
  public static func keyFile(_ name: String, of root: String) -> String {
    root.isEmpty ? "/\(name)" : "/\(root)/\(name)"
  }
}

/// The name of a key file, which contains the period that the file covers.
///
/// The form is `<start>-<end>-00001.zip`, or the older `<timestamp>-00001.zip`, in Unix seconds, after
/// an optional `/`. Every other text is rejected, so that a name cannot leave its folder.
public struct KeyFileName: Hashable, Sendable {
  /// The name without a leading `/`.
  public let text: String
  /// The start of the period; nil in the older form.
  public let startTimestamp: Int64?
  /// The end of the period. It is the download cursor of a phone.
  public let endTimestamp: Int64

  /// Parses `text`, or returns nil if it is not exactly a name.
  public init?(_ text: some StringProtocol) {
    let name = text.utf8.first == UInt8(ascii: "/") ? String(text.dropFirst()) : String(text)
    guard name.utf8.count <= Self.byteCountMax, name.hasSuffix(Self.suffix) else { return nil }
    let parts = name.dropLast(Self.suffix.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let number = parts.last,
      number.utf8.count == Self.numberDigits, Self.digits(number) != nil
    else { return nil }
    let times = parts.dropLast().compactMap(Self.timestamp)
    guard times.count == parts.count - 1, let end = times.last else { return nil }
    if times.count == 2, times[0] >= end { return nil }
    self.text = name
    startTimestamp = times.count == 2 ? times[0] : nil
    endTimestamp = end
  }

  /// The name of the file for the period from `start` to `end`, or nil unless `start` precedes `end`
  /// and both have ten digits.
  public init?(start: Int64, end: Int64) {
    self.init("\(start)-\(end)-00001\(Self.suffix)")
  }

  private static let suffix = ".zip"
  private static let numberDigits = 5
  /// Unix times from 2001 to 2286 have ten digits.
  private static let timestampDigits = 10
  private static let byteCountMax = 64

  private static func timestamp(_ text: Substring) -> Int64? {
    text.utf8.count == timestampDigits ? digits(text) : nil
  }

  private static func digits(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      ? Int64(text) : nil
  }
}

extension KeyFileName: Comparable {
  /// Compares by the end, then by the text.
  public static func < (left: KeyFileName, right: KeyFileName) -> Bool {
    (left.endTimestamp, left.text) < (right.endTimestamp, right.text)
  }
}

extension KeyFileName: CustomStringConvertible {
  public var description: String { text }
}

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
    // By bytes, because CR LF is a single Character.
    let lines = text.utf8.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
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

  private init(names: [KeyFileName], malformedCount: Int) {
    self.names = names
    self.malformedCount = malformedCount
  }
}
