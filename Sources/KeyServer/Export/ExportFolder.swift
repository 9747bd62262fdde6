// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP
import World

/// The folder of the key files and their indexes, which clients download.
///
/// Files appear complete, and an index lists only files that exist. The files of the ProteGO Safe contract are in
/// the folder itself, those of each further export in a subfolder with its name, so any web server can serve
/// the folder (see "Files and indexes" in Documentation/Exports.md).
struct ExportFolder: Sendable {
  let url: URL
  private let roots: [String]

  /// Creates the folder and one subfolder for each of `roots`, unless they exist.
  init(_ url: URL, roots: [String] = []) throws {
    self.url = url
    self.roots = roots
    try create()
  }

  /// Creates the folders that do not exist, also after someone has removed them from a running server.
  func create() throws {
    for folder in [""] + roots {
      try FileManager.default.createDirectory(
        at: url.appendingPathComponent(folder), withIntermediateDirectories: true)
    }
  }

  /// Returns `true` if the folder of the export `root` exists.
  func exists(_ root: String) -> Bool { exists(folder(root)) }

  /// The URL of the key file `name` of the export `root`.
  func file(_ name: KeyFileName, of root: String) -> URL {
    folder(root).appendingPathComponent(name.text)
  }

  /// Returns `true` if a file with this name exists, complete or not.
  func hasFile(_ name: KeyFileName, of root: String) -> Bool { exists(file(name, of: root)) }

  /// Returns `true` if the key file exists and its end is intact. We never create an incomplete file, but
  /// it may have been truncated since.
  func hasCompleteFile(_ name: KeyFileName, of root: String) -> Bool {
    UnverifiedKeyFile(at: file(name, of: root)).hasValidZipEnd
  }

  /// The content of the index, which the server creates when it starts.
  ///
  /// - Throws: The error of the file system if the index is missing or unreadable. It must not be served as
  ///   an empty index: phones would treat all files as analysed.
  func index(of root: String) throws -> Data { try Data(contentsOf: indexFile(root)) }

  /// Returns `true` if the index lists `name`.
  func isListed(_ name: KeyFileName, of root: String) throws -> Bool {
    let line = KeyFileIndex.line(name, under: root)
    return String(decoding: try index(of: root), as: UTF8.self).split(separator: "\n")
      .contains { $0 == line }
  }

  /// Creates an empty index unless there is one.
  func createIndex(of root: String) throws {
    if !exists(indexFile(root)) { try replaceIndex([], of: root) }
  }

  /// Writes the index if its content changes.
  func replaceIndex(_ names: [KeyFileName], of root: String) throws {
    let text = Data(KeyFileIndex.render(names, under: root).utf8)
    guard try !exists(indexFile(root)) || index(of: root) != text else { return }
    // Readable by everyone: another user's web server may serve the folder.
    try AtomicFile.write(text, to: indexFile(root), permissions: 0o644)
  }

  /// Removes the key files of the export that are not in `names`, and temporary files of interrupted writes.
  func removeAll(but names: Set<KeyFileName>, of root: String) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: folder(root).path) {
      let isObsolete =
        KeyFileName(file).map { !names.contains($0) } ?? Self.isTemporary(file)
      if isObsolete {
        try FileManager.default.removeItem(at: folder(root).appendingPathComponent(file))
      }
    }
  }

  /// The temporary files of our own writes and of `KeyFileWriter`.
  private static func isTemporary(_ name: String) -> Bool {
    AtomicFile.isTemporary(name) || (name.hasPrefix(".") && name.contains(".zip"))
  }

  private func exists(_ file: URL) -> Bool {
    FileManager.default.fileExists(atPath: file.path)
  }

  private func folder(_ root: String) -> URL {
    root.isEmpty ? url : url.appendingPathComponent(root)
  }

  private func indexFile(_ root: String) -> URL {
    folder(root).appendingPathComponent("index.txt")
  }
}

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
        let index = try await QuietRefusal.mappingServerErrors(context.logger) {
          try folder.index(of: root)
        }
        return Self.document(
          index, type: "text/plain; charset=us-ascii", cache: Self.indexCache, for: request)
      }
      router.get(RouterPath(KeyServerRoute.keyFile(":name", of: root))) { request, context in
        try await keyFile(of: root, for: request, in: context)
      }
    }
  }

  /// Shared caches may answer for a minute, phones ask each time.
  private static let indexCache =
    "public, max-age=0, s-maxage=\(KeyServerLimit.indexSharedSecondsMax), must-revalidate"

  private static let json = "application/json; charset=utf-8"

  /// Serves a file only if its index lists it; every other name is 404. A listed file that cannot be read is
  /// 503: the next export writes it again.
  private func keyFile(
    of root: String, for request: Request, in context: QuietContext
  ) async throws -> Response {
    let text = try context.parameters.require("name")
    guard let name = KeyFileName(text), name.text == text else { throw QuietRefusal.notFound }
    let file: FileDownload? = try await QuietRefusal.mappingServerErrors(context.logger) {
      guard try folder.isListed(name, of: root) else { return nil }
      return try FileDownload(folder.file(name, of: root))
    }
    guard let file else { throw QuietRefusal.notFound }
    // A file never changes under its name, so caches need not revalidate it.
    let cache = "public, max-age=\(Int(KeyServerLimit.retentionSeconds)), immutable"
    return file.response(
      to: request, modified: Date(unixSecond: name.endTimestamp),
      headers: [.contentType: "application/zip", .cacheControl: cache], in: context)
  }

  /// A document that changes: caches may store it but must revalidate it.
  private static func document(
    _ data: Data, type: String, cache: String = "public, no-cache", for request: Request
  ) -> Response {
    let tag = EntityTag(of: data)
    let headers: HTTPFields = [.contentType: type, .eTag: tag.text, .cacheControl: cache]
    guard tag.isWanted(by: request.headers) else {
      return Response(status: .preconditionFailed, headers: headers)
    }
    if tag.matches(request.headers[.ifNoneMatch]) {
      return Response(status: .notModified, headers: headers)
    }
    return Response(
      status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }
}
