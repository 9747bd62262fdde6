import Crypto
import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP

/// What phones fetch: the index, the key files it names, the remote configuration.
///
/// Documentation/SeedContract.md 5 and 6. Everything here is public and the same for everybody, so
/// that it can lie in any cache.
struct DownloadRoutes: Sendable {
  let folder: ExportFolder
  /// The file name roots of the exports; the seed contract's is empty.
  let roots: [String]
  let remoteConfiguration: SignedConfiguration

  /// Adds the routes.
  func add(to router: Router<QuietContext>) {
    router.get(RouterPath(KeyServerRoute.remoteConfiguration)) { request, _ in
      Self.document(
        try remoteConfiguration.data(), type: "application/json; charset=utf-8", for: request)
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

  /// Only a name that the index holds leads to a file; whatever else is asked for is not there.
  private func keyFile(
    of root: String, for request: Request, in context: QuietContext
  ) async throws -> Response {
    let text = try context.parameters.require("name")
    guard let name = KeyFileName(text), name.text == text, folder.serves(name, of: root),
      let tag = EntityTag(ofFile: folder.file(name, of: root))
    else { throw QuietRefusal.notFound }
    let written = Date(timeIntervalSince1970: TimeInterval(name.endTimestamp))
    // The name says which keys are inside for good, so a cache need never ask again.
    let headers: HTTPFields = [
      .contentType: "application/zip", .eTag: tag.text,
      .lastModified: HTTPDate.text(written),
      .cacheControl: "public, max-age=\(Int(KeyServerLimit.retentionSeconds)), immutable",
    ]
    if tag.matches(request.headers[.ifNoneMatch]) {
      return Response(status: .notModified, headers: headers)
    }
    let body = try await FileIO().loadFile(
      path: folder.file(name, of: root).path, context: context)
    return Response(status: .ok, headers: headers, body: body)
  }

  /// A small text that changes: caches may keep it and must ask whether it still holds.
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
