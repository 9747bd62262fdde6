// SPDX-License-Identifier: Apache-2.0
/// The media type of a file, by the ending of its name. Browsers run scripts of the right type only.
package struct ContentType: Hashable, Sendable {
  /// The value of the header.
  package let header: String

  /// The type of `fileName`; bytes if the ending is unknown.
  package init(fileName: String) {
    let ending = fileName.split(separator: ".", omittingEmptySubsequences: false).last
    header = ending.flatMap { Self.byEnding[$0.lowercased()] } ?? "application/octet-stream"
  }

  private init(_ header: String) {
    self.header = header
  }

  package static let html = ContentType("text/html; charset=utf-8")
  package static let json = ContentType("application/json")
  package static let plainText = ContentType("text/plain; charset=utf-8")

  /// True for HTML and XHTML documents.
  package var isHTML: Bool {
    header.hasPrefix("text/html") || header.hasPrefix("application/xhtml")
  }

  /// True for texts, which compress well.
  package var isText: Bool {
    header.hasPrefix("text/") || header.hasSuffix("json") || header.hasSuffix("xml")
  }

  private static let byEnding: [String: String] = [
    // HTML and XHTML may name their own encoding in the document, older ones not UTF-8.
    "html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml",
    "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8", "json": "application/json", "map": "application/json",
    "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8",
    "xml": "application/xml", "pdf": "application/pdf", "wasm": "application/wasm",
    "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
    "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "ico": "image/x-icon",
    "bmp": "image/bmp", "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf",
    "otf": "font/otf", "eot": "application/vnd.ms-fontobject", "mp3": "audio/mpeg",
    "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4", "webm": "video/webm",
  ]
}
