import Foundation
import Hummingbird

/// What a route is willing to read.
public struct BodyLimit: Sendable, Hashable {
  /// The longest body, in bytes.
  public var bytesMax: Int
  /// How long a client may take to send it, in seconds.
  public var secondsMax: Int

  /// Bodies of up to `bytesMax`, sent within `secondsMax`.
  public init(bytesMax: Int, secondsMax: Int = QuietLimit.bodySecondsMax) {
    self.bytesMax = bytesMax
    self.secondsMax = secondsMax
  }

  /// The whole body of `request`, and not one byte more than the limit is ever held.
  ///
  /// - Throws: `.wrongContentType`, `.bodyTooLarge`, `.bodyTooSlow`; `.malformed` where the client
  ///   went away in the middle.
  func body(
    of request: Request, in context: QuietContext, _ deadlines: ReadingDeadlines
  ) async throws(QuietRefusal) -> Data {
    guard Self.isJSON(request.headers[.contentType]) else { throw .wrongContentType }
    let announced = request.headers[.contentLength].flatMap { Int($0) }
    if let announced, announced > bytesMax { throw .bodyTooLarge(bytesMax: bytesMax) }
    do {
      let body = try await context.connection.reading(within: secondsMax, deadlines) {
        try await collected(request.body)
      }
      guard let body else { throw QuietRefusal.bodyTooSlow }
      if let announced, body.count < announced { throw QuietRefusal.malformed }
      return body
    } catch let refusal as QuietRefusal {
      throw refusal
    } catch {
      throw .malformed
    }
  }

  private func collected(_ body: RequestBody) async throws -> Data {
    var data = Data()
    for try await chunk in body {
      guard data.count + chunk.readableBytes <= bytesMax else {
        throw QuietRefusal.bodyTooLarge(bytesMax: bytesMax)
      }
      data.append(contentsOf: chunk.readableBytesView)
    }
    return data
  }

  /// `application/json`, with or without parameters.
  private static func isJSON(_ contentType: String?) -> Bool {
    if contentType == "application/json" { return true }
    let type = contentType?.split(separator: ";", maxSplits: 1).first
    return type?.trimmingCharacters(in: .whitespaces).lowercased() == "application/json"
  }
}
