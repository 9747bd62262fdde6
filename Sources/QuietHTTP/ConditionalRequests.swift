import Crypto
import Foundation
import Hummingbird

/// An entity tag, which identifies one version of a document (RFC 9110, 8.8.3).
public struct EntityTag: Hashable, Sendable {
  /// The tag in quotes.
  public let text: String

  /// The tag of a document in memory.
  public init(of data: Data) {
    let digest = SHA256.hash(data: data).prefix(16)
    text = "\"" + Data(digest).base64EncodedString() + "\""
  }

  init(quoting text: String) {
    self.text = "\"\(text)\""
  }

  /// Returns `true` if the client's `If-None-Match` contains the tag.
  public func matches(_ header: String?) -> Bool {
    guard let header else { return false }
    return header.split(separator: ",").contains { candidate in
      let tag = candidate.trimmingCharacters(in: .whitespaces)
      return tag == text || tag == "W/" + text || tag == "*"
    }
  }
}

/// The date format of HTTP headers (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
public enum HTTPDate {
  /// The text of a date, in whole seconds.
  public static func text(_ date: Date) -> String {
    date.formatted(style) + " GMT"
  }

  /// The date of a text of this form, or nil. Recipients may ignore the obsolete forms of conditions.
  static func date(_ text: String) -> Date? {
    guard text.hasSuffix(" GMT") else { return nil }
    return try? Date(String(text.dropLast(4)), strategy: style.parseStrategy)
  }

  private static let style = Date.VerbatimFormatStyle(
    format: """
      \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
      \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
      \(second: .twoDigits)
      """,
    locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
    calendar: Calendar(identifier: .gregorian))
}

/// The part of a document that a client asks for (RFC 9110, 14.2).
enum RequestedRange: Hashable {
  /// The whole document: there is no range, or one that may be ignored, such as a list of several.
  case whole
  case part(Range<Int>)
  /// The range begins after the end.
  case unsatisfiable

  /// The range that the header `Range` requests of a document of `count` bytes.
  init(_ header: String?, of count: Int) {
    self = .whole
    guard let header, header.hasPrefix("bytes=") else { return }
    let bounds = header.dropFirst("bytes=".count).split(
      separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return }
    switch (Self.number(bounds[0]), Self.number(bounds[1])) {
    case (let first?, let last?) where first <= last:
      self = Self.part(from: first, to: last, of: count)
    case (let first?, nil) where bounds[1].isEmpty:
      self = Self.part(from: first, to: .max, of: count)
    case (nil, let length?) where bounds[0].isEmpty:
      let isPossible = length > 0 && count > 0
      self = isPossible ? .part(max(0, count - length)..<count) : .unsatisfiable
    default: break
    }
  }

  private static func part(from first: Int, to last: Int, of count: Int) -> RequestedRange {
    first < count ? .part(first..<min(last, count - 1) + 1) : .unsatisfiable
  }

  /// A number of decimal digits without a sign. One that is too large is the largest.
  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text) ?? .max
  }
}
