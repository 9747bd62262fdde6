// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Hummingbird
import NIOCore
import NIOPosix
import TextEncodings
import World

/// A file that is sent in chunks, with conditions and ranges (RFC 9110, 13 and 14).
///
/// The file is open only while a chunk is read, and the next chunk is read when the client has taken the one
/// before it, so slow clients pin neither descriptors nor memory.
public struct FileDownload: Sendable {
  private let path: String
  private let version: FileVersion

  /// The file at `url`, which is only replaced as a whole.
  ///
  /// - Throws: `POSIXError` if the file cannot be opened.
  public init(_ url: URL) throws {
    path = url.path
    version = try Self.withFile(url.path) { try FileVersion($0) }
  }

  /// The tag of this version of the file.
  public var tag: EntityTag {
    EntityTag(quoting: "\(version.size)-\(version.modifiedMilliseconds)")
  }

  /// The response to `request`: the file, a range of it, 304 if the client has it, or 412 if the client wants another
  /// version.
  ///
  /// - Parameters:
  ///   - modified: The date that `Last-Modified` names, in whole seconds.
  ///   - headers: Further headers.
  public func response(
    to request: Request, modified: Date, headers: HTTPFields, in context: QuietContext
  ) -> Response {
    var headers = headers
    headers[.eTag] = tag.text
    headers[.lastModified] = HTTPDate.text(modified)
    headers[.acceptRanges] = "bytes"
    guard isWanted(modified, request.headers) else {
      return Response(status: .preconditionFailed, headers: headers)
    }
    if isUnchanged(modified, request.headers) {
      return Response(status: .notModified, headers: headers)
    }
    switch range(modified, request.headers) {
    case .whole:
      return Response(
        status: .ok, headers: headers, body: body(of: 0..<version.size, context.connection))
    case .part(let range):
      let last = range.upperBound - 1
      headers[.contentRange] = "bytes \(range.lowerBound)-\(last)/\(version.size)"
      return Response(
        status: .partialContent, headers: headers, body: body(of: range, context.connection))
    case .unsatisfiable:
      return Response(
        status: .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(version.size)"])
    }
  }

  /// False if `If-Match` names other versions. `If-Unmodified-Since` counts only without it.
  private func isWanted(_ modified: Date, _ headers: HTTPFields) -> Bool {
    if headers[.ifMatch] != nil { return tag.isWanted(by: headers) }
    guard let since = headers[.ifUnmodifiedSince].flatMap(HTTPDate.date) else { return true }
    return modified <= since
  }

  /// `If-Modified-Since` counts only without `If-None-Match`.
  private func isUnchanged(_ modified: Date, _ headers: HTTPFields) -> Bool {
    if let tags = headers[.ifNoneMatch] { return tag.matches(tags) }
    guard let since = headers[.ifModifiedSince].flatMap(HTTPDate.date) else { return false }
    return modified <= since
  }

  /// The range counts only if `If-Range`, if there is one, names this version.
  private func range(_ modified: Date, _ headers: HTTPFields) -> RequestedRange {
    let condition = headers[.ifRange] ?? tag.text
    guard condition == tag.text || condition == HTTPDate.text(modified) else { return .whole }
    return RequestedRange(headers[.range], of: version.size)
  }

  private func body(of range: Range<Int>, _ connection: Connection) -> ResponseBody {
    ResponseBody(contentLength: range.count) { writer in
      var position = range.lowerBound
      while position < range.upperBound {
        let count = min(QuietLimit.fileChunkBytes, range.upperBound - position)
        let chunk = try await NIOThreadPool.singleton.runIfActive { [position] in
          try read(count, at: position)
        }
        try await writer.write(chunk)
        // The write completes before the client has read; this wait applies the backpressure.
        try await connection.passWrites()
        position += count
      }
      try await writer.finish(nil)
    }
  }

  private func read(_ count: Int, at position: Int) throws -> ByteBuffer {
    try Self.withFile(path) { file in
      // A client must not get parts of two versions.
      guard try FileVersion(file) == version else { throw POSIXError(.ESTALE) }
      var buffer = ByteBufferAllocator().buffer(capacity: count)
      let read = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
        max(0, pread(file, $0.baseAddress, count, off_t(position)))
      }
      guard read == count else { throw POSIXError(.EIO) }
      return buffer
    }
  }

  private static func withFile<Value>(
    _ path: String, _ work: (Int32) throws -> Value
  ) throws -> Value {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    defer { close(file) }
    return try work(file)
  }
}

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

  /// False if the request has `If-Match` without the tag. A weak tag is never equal (RFC 9110, 13.1.1).
  public func isWanted(by headers: HTTPFields) -> Bool {
    guard let header = headers[.ifMatch] else { return true }
    return header.split(separator: ",").contains { candidate in
      ["*", text].contains(candidate.trimmingCharacters(in: .whitespaces))
    }
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
