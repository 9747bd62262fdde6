// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore

/// The header `Cookie` of a request.
package enum CookieHeader {
  /// The values of the cookies with a name. A browser sends several that were set for different paths.
  package static func values(of name: String, in header: String?) -> [String] {
    (header ?? "").split(separator: ";").compactMap { cookie in
      let parts = cookie.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name else {
        return nil
      }
      return parts[1].trimmingCharacters(in: .whitespaces)
    }
  }
}

/// The fields of a form with the media type `application/x-www-form-urlencoded`.
package enum URLEncodedForm {
  /// The body is no such form, or has too many fields.
  package struct Malformed: Error {
    package init() {}
  }

  /// Decodes a body. The fields are in its order, and a name may occur twice.
  package static func fields(
    _ body: Data, fieldsMax: Int = .max
  ) throws(Malformed) -> [(name: String, value: String)] {
    let parts = body.split(separator: UInt8(ascii: "&"))
    guard parts.count <= fieldsMax else { throw Malformed() }
    return try parts.map { part throws(Malformed) in
      let pair = part.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = pair.first else { throw Malformed() }
      return (try decoded(name), pair.count == 2 ? try decoded(pair[1]) : "")
    }
  }

  private static func decoded(_ bytes: Data) throws(Malformed) -> String {
    var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], ArraySlice(bytes))
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): result.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
        else { throw Malformed() }
        result.append(high << 4 | low)
      default: result.append(byte)
      }
    }
    guard let text = String(validating: result, as: UTF8.self) else { throw Malformed() }
    return text
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}

extension Request {
  /// The whole body; nil if it is larger than `bytesMax`, or the client is gone.
  package func body(atMost bytesMax: Int) async -> Data? {
    // Both errors end in the same response, which a client that is gone does not get.
    (try? await body.collect(upTo: bytesMax)).map { Data($0.readableBytesView) }
  }
}

extension Response {
  /// A stream of server-sent events to one page. It ends with the page, with the server, or with the events.
  ///
  /// - Parameters:
  ///   - subscribe: Begins the events, when the response begins.
  ///   - text: The lines of an event, with an empty one at the end.
  package static func events<Event: Sendable>(
    to request: Request, from subscribe: @escaping @Sendable () async -> AsyncStream<Event>,
    text: @escaping @Sendable (Event) -> String
  ) -> Response {
    Response(
      status: .ok,
      headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        let events = await subscribe()
        // A page that has been closed must free its stream at once, not at the next heartbeat.
        // Its error is the cancellation, or that of writing to a page that is gone.
        try? await request.body.consumeWithCancellationOnInboundClose { _ in
          for await event in events {
            try await writer.write(ByteBuffer(string: text(event)))
          }
        }
        try await writer.finish(nil)
      })
  }
}
