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
      router.get(RouterPath(KeyServerRoute.index(of: root))) { request, context in
        let index = try await QuietRefusal.mappingStorageErrors(context.logger) {
          try folder.index(of: root)
        }
        return Self.document(index, type: "text/plain; charset=us-ascii", for: request)
      }
      router.get(RouterPath(KeyServerRoute.keyFile(":name", of: root))) { request, context in
        try await keyFile(of: root, for: request, in: context)
      }
    }
  }

  private static let json = "application/json; charset=utf-8"

  /// Serves a file only if its index lists it; every other name is 404. A listed file that cannot be read is
  /// 503: the next export writes it again.
  private func keyFile(
    of root: String, for request: Request, in context: QuietContext
  ) async throws -> Response {
    let text = try context.parameters.require("name")
    guard let name = KeyFileName(text), name.text == text else { throw QuietRefusal.notFound }
    let file: FileDownload? = try await QuietRefusal.mappingStorageErrors(context.logger) {
      guard try folder.isListed(name, of: root) else { return nil }
      return try FileDownload(folder.file(name, of: root))
    }
    guard let file else { throw QuietRefusal.notFound }
    // A file never changes under its name, so caches need not revalidate it.
    let cache = "public, max-age=\(Int(KeyServerLimit.retentionSeconds)), immutable"
    return file.response(
      to: request, modified: Date(timeIntervalSince1970: TimeInterval(name.endTimestamp)),
      headers: [.contentType: "application/zip", .cacheControl: cache], in: context)
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
