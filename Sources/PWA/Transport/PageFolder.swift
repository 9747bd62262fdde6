// SPDX-License-Identifier: Apache-2.0
import CZlib
import Foundation
import Hummingbird
import NIOCore
import QuietHTTP
import TextEncodings
import WebPages
import World

/// The static files of a web app in a folder: a single-page app with its own routes.
package struct PageFolder: Sendable {
  /// A file, ready to be sent.
  struct Page: Sendable {
    let content: Data
    let contentType: ContentType
  }

  /// The result of looking for a path.
  enum Lookup: Sendable {
    case page(Page)
    /// The path names a folder with pages; its relative links need a slash at the end.
    case folder
    /// The file is larger than `PageLimit.fileBytesMax`.
    case tooLarge
    case nothing
  }

  private let root: String

  /// The pages in `folder`.
  ///
  /// - Throws: `PageFolderError` if there is no folder with an `index.html`.
  package init(_ folder: URL) throws(PageFolderError) {
    guard let root = Self.realPath(folder.path) else { throw .noFolder(folder.path) }
    self.root = root
    guard file("index.html") != nil else { throw .noIndex(folder.path) }
  }

  /// The page for `path`, which is percent-encoded and starts with a slash.
  ///
  /// - Parameter isDocument: True if a browser wants to show a document. If the path has no file, it is a route of
  ///   the app, which starts with `index.html`.
  func page(at path: String, isDocument: Bool) -> Lookup {
    guard let names = Self.names(in: path) else { return .nothing }
    // Apps that were built for another place ask for /place/app.js.
    for start in names.indices {
      let name = names[start...].joined(separator: "/")
      if let found = lookup(name, isDocument: isDocument, path) { return found }
    }
    guard isDocument || names.isEmpty else { return .nothing }
    return lookup("index.html", isDocument: isDocument, path) ?? .nothing
  }

  /// The paths of the files in the folder that are served, relative to it.
  func fileNames() -> [String] {
    let all = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return all.filter { Self.names(in: "/" + Self.encoded($0)) != nil && file($0) != nil }.sorted()
  }

  /// The content of the file with this relative path; `nil` if it cannot be read or is too large.
  func content(of name: String) -> Data? {
    let content = file(name).flatMap(beginning)
    return content.flatMap { $0.count <= PageLimit.fileBytesMax ? $0 : nil }
  }

  /// The content of a file up to one byte more than the limit; `nil` if it cannot be read.
  private func beginning(of file: String) -> Data? {
    FileHandle(forReadingAtPath: file)?.bytes(upTo: PageLimit.fileBytesMax + 1)
  }

  private static func encoded(_ name: String) -> String { name.replacingScalars(["%": "%25"]) }

  private func lookup(_ name: String, isDocument: Bool, _ path: String) -> Lookup? {
    if let file = file(name) { return load(file, isDocument: isDocument) }
    guard let index = file(name + "/index.html") else { return nil }
    return path.hasSuffix("/") ? load(index, isDocument: isDocument) : .folder
  }

  private func load(_ file: String, isDocument: Bool) -> Lookup {
    guard let content = beginning(of: file) else { return .nothing }
    guard content.count <= PageLimit.fileBytesMax else { return .tooLarge }
    let type = ContentType(fileName: URL(fileURLWithPath: file).lastPathComponent)
    let sent =
      type.isHTML ? BridgeInjection.inject(into: content, isFragmentKept: !isDocument) : content
    return .page(Page(content: sent, contentType: type))
  }

  /// The path of the regular file `name` inside the folder, after all symbolic links.
  private func file(_ name: String) -> String? {
    guard let path = Self.realPath(root + "/" + name), path.hasPrefix(root + "/") else {
      return nil
    }
    // Not `stat`, which different modules declare in different builds.
    let attributes = FileManager.default.attributes(of: URL(fileURLWithPath: path))
    return attributes?[.type] as? FileAttributeType == .typeRegular ? path : nil
  }

  /// True if `folder` is in the folder of the pages, or contains it. A part of its path may not exist yet.
  func overlaps(_ folder: URL) -> Bool {
    var existing = folder.standardizedFileURL
    var missing: [String] = []
    while Self.realPath(existing.path) == nil, existing.pathComponents.count > 1 {
      missing.insert(existing.lastPathComponent, at: 0)
      existing.deleteLastPathComponent()
    }
    let resolved = ([Self.realPath(existing.path) ?? existing.path] + missing)
      .joined(separator: "/")
    let (own, other) = (root.split(separator: "/"), resolved.split(separator: "/"))
    return own.starts(with: other) || other.starts(with: own)
  }

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The decoded names in a path; `nil` if one could lead out of the folder or is hidden.
  private static func names(in path: String) -> [String]? {
    var names: [String] = []
    for part in path.split(separator: "/") {
      guard let name = part.removingPercentEncoding, isVisible(name) else { return nil }
      names.append(name)
    }
    return names
  }

  private static func isVisible(_ name: String) -> Bool {
    (name.utf8.first != UInt8(ascii: ".") || name == ".well-known")
      && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }
}

/// The reason why a folder cannot be served.
package enum PageFolderError: Error, Hashable, Sendable, CustomStringConvertible {
  case noFolder(String)
  case noIndex(String)
  /// The copy of the pages could not be written to this folder.
  case notCopied(String)
  /// The folder of the copy contains the pages, or is one of their folders.
  case overlapsCopy(String)

  package var description: String {
    switch self {
    case .noFolder(let path): "There is no folder \(path): name the folder of a web app."
    case .noIndex(let path):
      "The folder \(path) has no index.html: name the folder with the built files of a web app."
    case .notCopied(let path):
      "The pages could not be copied to \(path): check the disk, and that each file has at most 32 MiB."
    case .overlapsCopy(let path):
      "The pages cannot be copied to \(path), because one folder contains the other: move the pages to another folder."
    }
  }
}

/// Limits of the pages.
package enum PageLimit {
  /// The size of a file, in bytes: a page is sent from memory.
  package static let fileBytesMax = 32 << 20
}

/// Answers requests for the files of the web app.
struct PageRoutes: Sendable {
  let pages: PageFolder
  let policy: ContentPolicy

  /// True if there is a file at `path`.
  func hasFile(at path: String) -> Bool {
    if case .page = pages.page(at: path, isDocument: false) { true } else { false }
  }

  /// The file for `path`.
  func response(_ request: Request, path: String, wantsDocument: Bool) -> Response {
    switch pages.page(at: path, isDocument: wantsDocument) {
    case .page(let page): response(page, to: request)
    // With two slashes at its start, a path would name another machine.
    case .folder: .redirection(to: "/" + path.drop { $0 == "/" } + "/")
    case .tooLarge: WebResponses.tooLarge
    case .nothing: WebResponses.notFound
    }
  }

  private func response(_ page: PageFolder.Page, to request: Request) -> Response {
    let deflated =
      page.contentType.isText ? ContentCoding.deflated(page.content, for: request) : nil
    let body = deflated ?? page.content
    // The tag of the bytes that are sent: each coding has its own (RFC 9110, 8.8.3.3).
    let tag = EntityTag(of: body)
    var headers: HTTPFields = [
      .cacheControl: "no-cache", .eTag: tag.text, .contentSecurityPolicy: policy.header,
      .vary: "accept-encoding",
    ]
    // A service worker may control all pages, wherever its script is.
    if let name = HTTPFields.Element.Name("service-worker-allowed") { headers[name] = "/" }
    if tag.matches(request.headers[.ifNoneMatch]) {
      return Response(status: .notModified, headers: headers)
    }
    headers[.contentType] = page.contentType.header
    if deflated != nil { headers[.contentEncoding] = "deflate" }
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }
}

/// The coding `deflate` of answers (RFC 9110, 8.4.1.2): it reduces the texts of the web app to a third.
enum ContentCoding {
  /// The size from which a body is compressed, in bytes. Below it the headers weigh more.
  private static let bytesMin = 1_024

  /// Returns `true` if `Accept-Encoding` names the coding.
  private static func isAccepted(by request: Request) -> Bool {
    (request.headers[.acceptEncoding] ?? "").split(separator: ",").contains { item in
      let parts = item.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
      return parts.first?.lowercased() == "deflate" && weight.flatMap { Double($0) } != 0
    }
  }

  /// `content` compressed; `nil` if the client does not accept that, or it saves nothing.
  static func deflated(_ content: Data, for request: Request) -> Data? {
    guard isAccepted(by: request), content.count >= bytesMin else { return nil }
    var count = compressBound(uLong(content.count))
    var room = [UInt8](repeating: 0, count: Int(count))
    let status = content.withUnsafeBytes { content in
      compress2(
        &room, &count, content.baseAddress?.assumingMemoryBound(to: UInt8.self),
        uLong(content.count), Z_DEFAULT_COMPRESSION)
    }
    guard status == Z_OK, count < content.count else { return nil }
    return Data(room.prefix(Int(count)))
  }
}
