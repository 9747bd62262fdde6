import Crypto
import Foundation

/// The static files of a web app in a folder: a single-page app with its own routes.
package struct PageFolder: Sendable {
  /// A file, ready to be sent.
  struct Page: Sendable {
    let content: Data
    let contentType: ContentType
    /// The name of this content, in quotation marks.
    let tag: String
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

  private func lookup(_ name: String, isDocument: Bool, _ path: String) -> Lookup? {
    if let file = file(name) { return load(file, isDocument: isDocument) }
    guard let index = file(name + "/index.html") else { return nil }
    return path.hasSuffix("/") ? load(index, isDocument: isDocument) : .folder
  }

  private func load(_ file: String, isDocument: Bool) -> Lookup {
    let url = URL(fileURLWithPath: file)
    guard let handle = try? FileHandle(forReadingFrom: url) else { return .nothing }
    defer { try? handle.close() }
    guard let content = try? handle.read(upToCount: PageLimit.fileBytesMax + 1) ?? Data() else {
      return .nothing
    }
    guard content.count <= PageLimit.fileBytesMax else { return .tooLarge }
    let type = ContentType(fileName: url.lastPathComponent)
    let sent =
      type.isHTML ? BridgeInjection.inject(into: content, isFragmentKept: !isDocument) : content
    let tag = SHA256.hash(data: sent).prefix(16).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    return .page(Page(content: sent, contentType: type, tag: "\"\(tag.joined())\""))
  }

  /// The path of the regular file `name` inside the folder, after all symbolic links.
  private func file(_ name: String) -> String? {
    guard let path = Self.realPath(root + "/" + name), path.hasPrefix(root + "/") else {
      return nil
    }
    // Not `stat`, which different modules declare in different builds.
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.type] as? FileAttributeType == .typeRegular ? path : nil
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
    (!name.hasPrefix(".") || name == ".well-known")
      && !name.contains { $0 == "/" || $0 == "\0" }
  }
}

/// The reason why a folder cannot be served.
package enum PageFolderError: Error, Hashable, Sendable, CustomStringConvertible {
  case noFolder(String)
  case noIndex(String)

  package var description: String {
    switch self {
    case .noFolder(let path): "There is no folder \(path): name the folder of a web app."
    case .noIndex(let path):
      "The folder \(path) has no index.html: name the folder with the built files of a web app."
    }
  }
}

/// Limits of the pages.
package enum PageLimit {
  /// The size of a file, in bytes: a page is sent from memory.
  package static let fileBytesMax = 32 << 20
}

/// The Content-Security-Policy of a web app.
package enum PagePolicy: Sendable {
  /// For our own app: files of its own and nothing else.
  case strict
  /// For an app that was written elsewhere: its scripts run unchanged, but cannot load anything from another machine or
  /// send anything there.
  case permissive

  /// The value of the header.
  package var header: String {
    switch self {
    case .strict:
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        + " connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none';"
        + " form-action 'none'; frame-ancestors 'none'"
    case .permissive:
      "default-src 'self' data: blob:;"
        + " script-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval';"
        + " style-src 'self' data: blob: 'unsafe-inline'; connect-src 'self' data: blob:;"
        + " worker-src 'self' blob:; frame-src data: blob:; object-src 'none'; base-uri 'self';"
        + " form-action 'self'; frame-ancestors 'none'"
    }
  }

  /// The policy of pages without a script: our messages to the owner.
  static let inert =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
