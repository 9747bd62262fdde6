import Foundation

/// The value of the header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
  /// The seconds to wait, at most the limit; `nil` for another value.
  ///
  /// - Parameter sent: The time of the response: that of its header `Date` if possible, because the phone's
  ///   clock may be wrong.
  static func seconds(_ value: String, sentAt sent: Date) -> Int? {
    let text = value.trimmingCharacters(in: .whitespaces)
    guard let seconds = Double(digits: text) ?? date(text)?.timeIntervalSince(sent) else {
      return nil
    }
    return Int(min(max(seconds, 0), Double(NetworkLimit.retryAfterSecondsMax)))
  }

  /// Parses a date: `Sun, 06 Nov 1994 08:49:37 GMT`, or one of the two obsolete formats that a recipient must
  /// accept.
  static func date(_ text: String) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    return forms.lazy.compactMap { form in
      formatter.dateFormat = form
      return formatter.date(from: text)
    }.first
  }

  private static let forms = [
    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
  ]
}

extension Double {
  /// The value of a text of digits alone.
  fileprivate init?(digits text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    self.init(text)
  }
}
