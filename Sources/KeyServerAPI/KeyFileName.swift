// SPDX-License-Identifier: Apache-2.0
/// The name of a key file, which contains the period that the file covers.
///
/// The form is `<start>-<end>-00001.zip`, or the older `<timestamp>-00001.zip`, in Unix seconds, after
/// an optional `/`. The number is the edition: a file that is written again gets the next one. Every
/// other text is rejected, so that a name cannot leave its folder.
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
  /// and both have ten digits, and the edition at most five.
  public init?(start: Int64, end: Int64, edition: Int = 1) {
    let number = "\(edition)"
    let zeros = String(repeating: "0", count: max(0, Self.numberDigits - number.utf8.count))
    self.init("\(start)-\(end)-\(zeros)\(number)\(Self.suffix)")
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

extension KeyFileName {
  /// Returns `true` if this file was written later for the period of `other`, with the same keys: the server does not
  /// serve the earlier edition any more.
  public func isLaterEdition(of other: KeyFileName) -> Bool {
    isEdition(of: other) && text > other.text
  }

  /// Returns `true` if both names are editions of the file of one period.
  public func isEdition(of other: KeyFileName) -> Bool {
    startTimestamp == other.startTimestamp && endTimestamp == other.endTimestamp
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
