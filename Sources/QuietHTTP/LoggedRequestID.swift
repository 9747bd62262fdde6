// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging

/// The identity of a request in the log: that of `X-Request-ID` if a trusted proxy sent one, otherwise a random one.
///
/// It leads from a line of the proxy to ours without an address. A client cannot choose it: it could put data into the
/// log, or make its requests look like one.
enum LoggedRequestID {
  /// The name in the metadata of a log entry.
  static let key = "request"
  /// The lengths of an identity that a proxy may send.
  static let characterCounts = 8...64

  /// The identity of a request from `peer`.
  static func text(
    of headers: HTTPFields, from peer: NumericAddress?, _ proxies: TrustedProxies
  ) -> String {
    guard let peer, proxies.isTrusted(peer), let sent = headers[.requestID], isValid(sent) else {
      return UUID().uuidString.lowercased()
    }
    return sent
  }

  private static func isValid(_ text: String) -> Bool {
    characterCounts.contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        let letter = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || [UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
      }
  }
}

extension QuietContext {
  /// The context, whose log entries have `id` instead of the number of the HTTP library.
  func logging(as id: String) -> QuietContext {
    var context = self
    context.logger[metadataKey: "hb.request.id"] = nil
    context.logger[metadataKey: LoggedRequestID.key] = "\(id)"
    return context
  }
}
