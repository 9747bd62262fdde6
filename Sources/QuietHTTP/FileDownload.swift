import Foundation
import Hummingbird
import NIOCore
import NIOPosix
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

  /// The response to `request`: the file, a range of it, or 304 if the client has it.
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
