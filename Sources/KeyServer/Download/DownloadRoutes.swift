import Crypto
import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP

/// The downloads: indexes, the key files they list, the remote configuration and the device configuration.
///
/// All of them are public and the same for all clients, so any cache may store them. The formats are in
/// Documentation/ProteGOSafeContract.md.
struct DownloadRoutes: Sendable {
  let folder: ExportFolder
  /// The file name roots of the exports; that of the ProteGO Safe contract is empty.
  let roots: [String]
  let remoteConfiguration: SignedConfiguration
  /// Reads the device configuration, which was signed elsewhere; nil if there is none.
  let readDeviceConfiguration: (@Sendable () throws -> Data)?

  func add(to router: Router<QuietContext>) {
    router.get(RouterPath(KeyServerRoute.remoteConfiguration)) { request, _ in
      Self.document(
        try remoteConfiguration.data(), type: Self.json, for: request)
    }
    router.get(RouterPath(KeyServerRoute.deviceConfiguration)) { request, _ in
      guard let readDeviceConfiguration else { throw QuietRefusal.notFound }
      return Self.document(try readDeviceConfiguration(), type: Self.json, for: request)
    }
    for root in roots {
      router.get(RouterPath(KeyServerRoute.index(of: root))) { request, _ in
        Self.document(folder.index(of: root), type: "text/plain; charset=us-ascii", for: request)
      }
      router.get(RouterPath(KeyServerRoute.keyFile(":name", of: root))) { request, context in
        try await keyFile(of: root, for: request, in: context)
      }
    }
  }

  private static let json = "application/json; charset=utf-8"

  /// Serves a file only if its index lists it; every other name is 404.
  private func keyFile(
    of root: String, for request: Request, in context: QuietContext
  ) async throws -> Response {
    let text = try context.parameters.require("name")
    guard let name = KeyFileName(text), name.text == text, folder.isListed(name, of: root),
      let tag = EntityTag(ofFile: folder.file(name, of: root))
    else { throw QuietRefusal.notFound }
    let modified = Date(timeIntervalSince1970: TimeInterval(name.endTimestamp))
    // A file never changes under its name, so caches need not revalidate it.
    let headers: HTTPFields = [
      .contentType: "application/zip", .eTag: tag.text,
      .lastModified: HTTPDate.text(modified),
      .cacheControl: "public, max-age=\(Int(KeyServerLimit.retentionSeconds)), immutable",
    ]
    if tag.matches(request.headers[.ifNoneMatch]) {
      return Response(status: .notModified, headers: headers)
    }
    let body = try await FileIO().loadFile(
      path: folder.file(name, of: root).path, context: context)
    return Response(status: .ok, headers: headers, body: body)
  }

  /// A document that changes: caches may store it but must revalidate it.
  private static func document(_ data: Data, type: String, for request: Request) -> Response {
    let tag = EntityTag(of: data)
    let headers: HTTPFields = [
      .contentType: type, .eTag: tag.text, .cacheControl: "public, no-cache",
    ]
    if tag.matches(request.headers[.ifNoneMatch]) {
      return Response(status: .notModified, headers: headers)
    }
    return Response(
      status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }
}

/// An entity tag, which identifies one version of a document (RFC 9110, 8.8.3).
struct EntityTag: Hashable, Sendable {
  /// The tag in quotes.
  let text: String

  init(of data: Data) {
    let digest = SHA256.hash(data: data).prefix(16)
    text = "\"" + Data(digest).base64EncodedString() + "\""
  }

  /// The tag of a file that is only replaced atomically; nil if the file does not exist.
  init?(ofFile url: URL) {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path),
      let size = attributes[.size] as? NSNumber, let date = attributes[.modificationDate] as? Date
    else { return nil }
    text = "\"\(size.int64Value)-\(Int64(date.timeIntervalSince1970 * 1_000))\""
  }

  /// Returns `true` if the client's `If-None-Match` contains the tag.
  func matches(_ header: String?) -> Bool {
    guard let header else { return false }
    return header.split(separator: ",").contains { candidate in
      let tag = candidate.trimmingCharacters(in: .whitespaces)
      return tag == text || tag == "W/" + text || tag == "*"
    }
  }
}

/// The date format of HTTP headers (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
  static func text(_ date: Date) -> String {
    let style = Date.VerbatimFormatStyle(
      format: """
        \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
        \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
        \(second: .twoDigits)
        """,
      locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
      calendar: Calendar(identifier: .gregorian))
    return date.formatted(style) + " GMT"
  }
}
