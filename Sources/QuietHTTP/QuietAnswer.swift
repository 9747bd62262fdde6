import Foundation
import Hummingbird
import World

/// A JSON answer that looks on the wire like every other one.
///
/// Whatever it says, it has the same headers in the same order and a length of `AnswerBucket`: a
/// top-level `padding` of base64 random bytes fills it up.
public struct QuietAnswer: Sendable {
  /// What it says in one number.
  public let status: HTTPResponse.Status
  /// After how many seconds to try again, where waiting helps.
  public let retryAfterSeconds: Int?
  private let json: Data

  /// Answers with `body`, which must encode to a JSON object without a `padding` of its own.
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
        type(of: body), .init(codingPath: [], debugDescription: "An answer is a JSON object."))
    }
    self.json = json
    self.status = status
    self.retryAfterSeconds = retryAfterSeconds
  }

  /// Answers with `json`, the text of a JSON object without a `padding` of its own.
  public init(json: Data, status: HTTPResponse.Status = .ok, retryAfterSeconds: Int? = nil) {
    self.json = json
    self.status = status
    self.retryAfterSeconds = retryAfterSeconds
  }

  /// Refuses in the form of the route's contract.
  public init(_ refusal: QuietRefusal, form: RefusalForm) throws {
    try self.init(
      form.body(refusal), status: refusal.status, retryAfterSeconds: refusal.retryAfterSeconds)
  }

  /// The answer as it goes out, padded.
  public func response(
    padding randomness: any Randomness, shape: AnswerShape = AnswerShape()
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

  /// The JSON with its padding, exactly as long as its bucket: base64 comes in fours, blanks after
  /// the object do the rest.
  private func padded(from randomness: any Randomness, bytesMin: Int) -> ByteBuffer {
    let opening = (json.count > 2 ? "," : "") + "\"padding\":\""
    let closing = "\"}"
    let count = json.count - 1 + opening.utf8.count + closing.utf8.count
    let room = AnswerBucket.holding(max(bytesMin, count))
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
