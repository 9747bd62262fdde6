import Foundation

/// A property whose absent value is encoded as `null`.
@propertyWrapper
package struct Nullable<Value: Encodable & Hashable & Sendable>: Encodable, Hashable, Sendable {
  package var wrappedValue: Value?

  package init(wrappedValue: Value?) {
    self.wrappedValue = wrappedValue
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

extension URL {
  /// The host and port: `127.0.0.1:8081`, or the host alone with the port of the scheme.
  package var hostAndPort: String {
    let host = host() ?? ""
    return port.map { "\(host):\($0)" } ?? host
  }
}

extension Date {
  /// Whole seconds since 1970.
  package var unixSeconds: Int { Int(timeIntervalSince1970.rounded(.down)) }

  /// The day in UTC: `2020-10-15`.
  var dayText: String {
    formatted(Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day())
  }
}
