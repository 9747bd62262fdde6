// SPDX-License-Identifier: Apache-2.0

/// A Content-Security-Policy: what a page may load, where its forms go, and that no other site frames it.
package struct ContentPolicy: Hashable, Sendable {
  /// A kind of resource of the server itself.
  package enum Kind: String, Sendable {
    case scripts = "script-src"
    case styles = "style-src"
    case connections = "connect-src"
    case manifests = "manifest-src"
    case workers = "worker-src"
  }

  /// The sources of pictures.
  package enum Images: String, Sendable {
    case none = ""
    /// Files of the server.
    case own = "'self'"
    /// Pictures inside the page, as `data:` addresses.
    case inline = "data:"
    case ownAndInline = "'self' data:"
  }

  /// The value of the header.
  package let header: String

  private init(header: String) { self.header = header }

  /// The policy of our own pages: nothing of other servers and nothing inline but what is named here.
  ///
  /// - Parameters:
  ///   - kinds: The kinds of files that the page loads from its server.
  ///   - images: The pictures that it shows.
  ///   - sendsForms: True for pages with forms, which go to their server only.
  package init(_ kinds: [Kind] = [], images: Images = .none, sendsForms: Bool = false) {
    var directives = ["default-src 'none'"] + kinds.map { "\($0.rawValue) 'self'" }
    if images != .none { directives.append("img-src \(images.rawValue)") }
    directives += [
      "form-action '\(sendsForms ? "self" : "none")'", "base-uri 'none'", "frame-ancestors 'none'",
    ]
    header = directives.joined(separator: "; ")
  }

  /// The policy of pages without a script, a style or a form: our messages to the owner.
  package static let inert = ContentPolicy()

  /// The policy of an app of our own: files of its own and nothing else.
  package static let app = ContentPolicy(
    [.scripts, .styles, .connections, .manifests, .workers], images: .ownAndInline)

  /// The policy of an app that was written elsewhere: its scripts run unchanged, but cannot load anything from another
  /// machine or send anything there.
  package static let foreignApp = ContentPolicy(
    header: "default-src 'self' data: blob:;"
      + " script-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval';"
      + " style-src 'self' data: blob: 'unsafe-inline'; connect-src 'self' data: blob:;"
      + " worker-src 'self' blob:; frame-src data: blob:; object-src 'none'; base-uri 'self';"
      + " form-action 'self'; frame-ancestors 'none'")

  /// The policy of pages that a browser shows from files: they can load files, and reach `server`.
  package static func files(reaching server: String) -> ContentPolicy {
    ContentPolicy(
      header: "default-src file: data: blob:;"
        + " script-src file: data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval';"
        + " style-src file: data: blob: 'unsafe-inline'; connect-src \(server) file: data: blob:;"
        + " object-src 'none'; base-uri file:; form-action 'none'")
  }
}
