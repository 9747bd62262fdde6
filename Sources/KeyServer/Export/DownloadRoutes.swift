// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP
import Synchronization
import World

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
  /// The indexes by the file name roots of their exports.
  private let indexes: [String: CachedIndex]

  init(
    folder: ExportFolder, roots: [String], remoteConfiguration: SignedConfiguration,
    readDeviceConfiguration: (@Sendable () throws -> Data)?
  ) {
    self.folder = folder
    self.roots = roots
    self.remoteConfiguration = remoteConfiguration
    self.readDeviceConfiguration = readDeviceConfiguration
    indexes = Dictionary(
      roots.map { ($0, CachedIndex(folder.indexFile($0))) }, uniquingKeysWith: { first, _ in first }
    )
  }

  /// The indexes, for responses to clients that have them already.
  var unchanged: [String: UnchangedDocuments.State] {
    Dictionary(
      indexes.map { root, index in
        let state = Self.state(of: index)
        return (KeyServerRoute.index(of: root), state)
      }, uniquingKeysWith: { first, _ in first })
  }

  private static func state(of index: CachedIndex) -> UnchangedDocuments.State {
    let headers = [("content-type", indexType), ("cache-control", CacheControl.index)]
    return { index.contentInMemory.map { ($0.tag, headers) } }
  }

  func add(to router: Router<QuietContext>) {
    router.get(RouterPath(KeyServerRoute.remoteConfiguration)) { request, context in
      let data = try await QuietRefusal.mappingServerErrors(context.logger) {
        try remoteConfiguration.data()
      }
      // Not an error of this request: the fault of the token is logged once, and `/ready` names it.
      guard let data else {
        throw QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
      }
      return Self.document(data, type: Self.json, for: request)
    }
    router.get(RouterPath(KeyServerRoute.deviceConfiguration)) { request, _ in
      guard let readDeviceConfiguration else { throw QuietRefusal.notFound }
      return Self.document(try readDeviceConfiguration(), type: Self.json, for: request)
    }
    for (root, index) in indexes {
      router.get(RouterPath(KeyServerRoute.index(of: root))) { request, context in
        let content = try await QuietRefusal.mappingServerErrors(context.logger) {
          try index.content()
        }
        return Self.response(
          content.body, content.tag, type: Self.indexType, cache: CacheControl.index,
          for: request)
      }
      router.get(RouterPath(KeyServerRoute.keyFile(":name", of: root))) { request, context in
        try await keyFile(of: root, listedIn: index, for: request, in: context)
      }
    }
  }

  private static let indexType = "text/plain; charset=us-ascii"

  private static let json = "application/json; charset=utf-8"

  /// Serves a file only if its index lists it; every other name is 404. A listed file that cannot be read is
  /// 503: the next export writes it again.
  private func keyFile(
    of root: String, listedIn index: CachedIndex, for request: Request,
    in context: QuietContext
  ) async throws -> Response {
    let text = try context.parameters.require("name")
    guard let name = KeyFileName(text), name.text == text else { throw QuietRefusal.notFound }
    let file: FileDownload? = try await QuietRefusal.mappingServerErrors(context.logger) {
      guard try index.content().lists(name, of: root) else { return nil }
      return try FileDownload(folder.file(name, of: root))
    }
    guard let file else { throw QuietRefusal.notFound }
    return file.response(
      to: request, modified: Date(unixSecond: name.endTimestamp),
      headers: [.contentType: "application/zip", .cacheControl: CacheControl.keyFile],
      in: context)
  }

  /// A document that changes: caches may store it but must revalidate it.
  private static func document(
    _ data: Data, type: String, cache: String = "public, no-cache", for request: Request
  ) -> Response {
    response(
      ByteBuffer(bytes: data), EntityTag(of: data), type: type, cache: cache, for: request)
  }

  private static func response(
    _ body: ByteBuffer, _ tag: EntityTag, type: String, cache: String, for request: Request
  ) -> Response {
    let headers: HTTPFields = [.contentType: type, .eTag: tag.text, .cacheControl: cache]
    guard tag.isWanted(by: request.headers) else {
      return Response(status: .preconditionFailed, headers: headers)
    }
    if tag.matches(request.headers[.ifNoneMatch]) {
      return Response(status: .notModified, headers: headers)
    }
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
  }
}

/// The content of an index, which is read again only if its file was replaced: phones request it far more often than
/// it changes. Other processes may write it, too.
final class CachedIndex: Sendable {
  struct Content: Sendable {
    let version: FileVersion
    let body: ByteBuffer
    let tag: EntityTag
    fileprivate let lines: Set<Substring>

    /// Returns `true` if the index lists `name`.
    func lists(_ name: KeyFileName, of root: String) -> Bool {
      lines.contains(KeyFileIndex.line(name, under: root)[...])
    }
  }

  private let file: URL
  private let path: String
  private let last = Mutex<Content?>(nil)

  init(_ file: URL) {
    (self.file, path) = (file, file.path)
  }

  /// The content that was read last; nil if there is none, or if the file was replaced since. The file is not read.
  var contentInMemory: Content? {
    last.withLock { $0 }.flatMap { $0.version == FileVersion(path: path) ? $0 : nil }
  }

  /// - Throws: The error of the file system if the index is missing or unreadable. It must not be served as an empty
  ///   index: phones would treat all files as analysed.
  func content() throws -> Content {
    // Before the content, so that an index that is replaced in between is read again.
    let version = FileVersion(path: path)
    if let last = last.withLock({ $0 }), last.version == version { return last }
    let data = try Data(contentsOf: file)
    guard let version else { throw POSIXError(.ENOENT) }
    let content = Content(
      version: version, body: ByteBuffer(bytes: data), tag: EntityTag(of: data),
      lines: Set(String(decoding: data, as: UTF8.self).split(separator: "\n")))
    last.withLock { $0 = content }
    return content
  }
}

/// The headers `Cache-Control` of what phones download, from this server or from an object store.
enum CacheControl {
  /// Of an index: shared caches may answer for half a minute, phones ask each time.
  static let index =
    "public, max-age=0, s-maxage=\(KeyServerLimit.indexSharedSecondsMax), must-revalidate"
  /// Of a key file, which never changes under its name.
  static let keyFile = "public, max-age=\(Int(KeyServerLimit.retentionSeconds)), immutable"
}
