// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import World

/// A JSON response that looks like all others on the network.
///
/// Every response has the same headers in the same order, and a top-level `padding` of random base64
/// fills it up to a length of `ResponseBucket`. A response with `retry-after` is shorter by that header, so that it
/// has as many bytes on the network.
public struct PaddedResponse: Sendable {
  /// The HTTP status.
  public let status: HTTPResponse.Status
  /// The seconds to wait before a retry, if a retry helps.
  public let retryAfterSeconds: Int?
  private let json: Data

  /// Creates a response from `body`, which must encode to a JSON object without `padding`.
  ///
  /// - Throws: `EncodingError`.
  public init(
    _ body: some Encodable, status: HTTPResponse.Status = .ok, retryAfterSeconds: Int? = nil
  ) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = try encoder.encode(body)
    guard json.first == UInt8(ascii: "{") else {
      throw EncodingError.invalidValue(
        type(of: body), .init(codingPath: [], debugDescription: "A response must be a JSON object.")
      )
    }
    self.json = json
    self.status = status
    self.retryAfterSeconds = retryAfterSeconds
  }

  /// Creates a response from `json`, a JSON object without `padding`.
  public init(json: Data, status: HTTPResponse.Status = .ok, retryAfterSeconds: Int? = nil) {
    self.json = json
    self.status = status
    self.retryAfterSeconds = retryAfterSeconds
  }

  /// Creates an error response in the form of the route's contract.
  public init(_ refusal: QuietRefusal, form: ErrorBody) throws {
    try self.init(
      form.body(refusal), status: refusal.status, retryAfterSeconds: refusal.retryAfterSeconds)
  }

  /// The padded HTTP response.
  public func response(
    padding randomness: any Randomness, shape: ResponseShape = ResponseShape()
  ) -> Response {
    let body = padded(from: randomness, bytesMin: shape.bytesMin)
    var headers: HTTPFields = [
      .contentType: "application/json; charset=utf-8", .cacheControl: "no-store",
      .contentLength: "\(body.readableBytes)",
    ]
    headers.append(contentsOf: shape.headers)
    if let retryAfterSeconds { headers[.retryAfter] = "\(retryAfterSeconds)" }
    return Response(
      status: status, headers: headers, body: ResponseBody(byteBuffer: body))
  }

  /// The bytes of the head that a success does not have.
  private var extraHeadBytes: Int {
    retryAfterSeconds.map { "retry-after: \($0)\r\n".utf8.count } ?? 0
  }

  /// The JSON, filled up to its bucket: base64 has groups of four, and spaces after the object fill
  /// the rest.
  private func padded(from randomness: any Randomness, bytesMin: Int) -> ByteBuffer {
    let opening = (json.count > 2 ? "," : "") + "\"padding\":\""
    let closing = "\"}"
    let count = json.count - 1 + opening.utf8.count + closing.utf8.count
    let room = ResponseBucket.room(
      for: count, atLeast: bytesMin, extraHeadBytes: extraHeadBytes)
    let free = room - count
    var body = ByteBuffer()
    body.reserveCapacity(room)
    body.writeBytes(json.dropLast())
    body.writeString(opening)
    PaddingText.write(randomness.bytes(free / 4 * 3), to: &body)
    body.writeString(closing)
    body.writeRepeatingByte(UInt8(ascii: " "), count: free % 4)
    return body
  }
}

/// The common properties of all responses of a route.
public struct ResponseShape: Sendable {
  /// The minimum length, in bytes. If some responses exceed the smallest `ResponseBucket`, the others
  /// must be as long.
  public var bytesMin: Int
  /// Additional headers of every response.
  public var headers: HTTPFields

  /// Creates a shape.
  public init(bytesMin: Int = 0, headers: HTTPFields = [:]) {
    self.bytesMin = bytesMin
    self.headers = headers
  }
}

/// The possible lengths of a response.
///
/// An observer of the network sees the length. With these few lengths a token, an error and the
/// response to a decoy look the same.
public enum ResponseBucket {
  /// The lengths in bytes, ascending. Longer responses are a multiple of the last one.
  public static let bytes = [1 << 10, 4 << 10, 16 << 10, 64 << 10]

  /// The smallest length that holds `count` bytes.
  public static func holding(_ count: Int) -> Int {
    if let bucket = bytes.first(where: { $0 >= count }) { return bucket }
    let largest = bytes[bytes.count - 1]
    return (count + largest - 1) / largest * largest
  }

  /// The length of a body that holds `count` bytes, in a response whose head is `extraHeadBytes` longer than that
  /// of a success, so that head and body together have the length of a success of at least `bytesMin`.
  static func room(for count: Int, atLeast bytesMin: Int, extraHeadBytes: Int) -> Int {
    var bucket = holding(max(bytesMin, count))
    while true {
      let total = bucket + digits(bucket) - extraHeadBytes
      // The number of digits in `content-length` belongs to the head.
      let room = total - digits(total - digits(total))
      if room >= count { return room }
      bucket = holding(bucket + 1)
    }
  }

  private static func digits(_ number: Int) -> Int { "\(number)".utf8.count }
}

/// Encodes padding as base64 (RFC 4648, section 4) directly into the output buffer, because padding is most
/// of a response.
enum PaddingText {
  /// Writes four digits for each complete group of three `bytes`.
  static func write(_ bytes: [UInt8], to buffer: inout ByteBuffer) {
    let count = bytes.count / 3 * 4
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { text in
      // Unsafe buffers, because bounds checks of three arrays took longer than the encoding.
      digits.withUnsafeBufferPointer { digits in
        bytes.withUnsafeBufferPointer { write($0, by: digits, to: text) }
      }
      return count
    }
  }

  private static func write(
    _ bytes: UnsafeBufferPointer<UInt8>, by digits: UnsafeBufferPointer<UInt8>,
    to text: UnsafeMutableRawBufferPointer
  ) {
    for group in 0..<bytes.count / 3 {
      let (from, to) = (group * 3, group * 4)
      let (first, second, third) = (bytes[from], bytes[from + 1], bytes[from + 2])
      text[to] = digits[Int(first >> 2)]
      text[to + 1] = digits[Int(first << 4 & 0x30 | second >> 4)]
      text[to + 2] = digits[Int(second << 2 & 0x3C | third >> 6)]
      text[to + 3] = digits[Int(third & 0x3F)]
    }
  }

  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}

/// A ring buffer of durations.
struct LatestDurations {
  /// The durations in no particular order.
  private(set) var all: [Duration] = []
  private let countMax: Int
  private var oldest = 0

  init(countMax: Int) {
    self.countMax = countMax
  }

  /// Adds `duration` and evicts the oldest one if there are too many.
  mutating func append(_ duration: Duration) {
    if all.count < countMax {
      all.append(duration)
    } else {
      all[oldest] = duration
      oldest = (oldest + 1) % countMax
    }
  }
}
