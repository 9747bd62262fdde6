// SPDX-License-Identifier: Apache-2.0
import Hummingbird

/// The checks that every request to pages on loopback passes first: it is for this server, from a page of this server,
/// and not for a frame.
///
/// A browser of the owner also sends the requests of other sites' pages. It marks them with `Origin` and the headers of
/// Fetch Metadata, which pages cannot set.
package struct LoopbackGate: Sendable {
  /// The paths of a server that are not pages.
  package struct Paths: Sendable {
    /// The beginning of the paths that are not documents.
    var data: String?
    /// The beginning of those below `data` that are documents all the same.
    var documents: String?
    /// The paths that only scripts of pages use.
    var scripted: Set<String> = []

    /// No such paths.
    package static let none = Paths()

    /// The paths below `data`, except those below `documents`; `scripted` are the ones that only scripts of pages use.
    package static func below(
      _ data: String, exceptBelow documents: String, scripted: Set<String>
    ) -> Paths {
      Paths(data: data, documents: documents, scripted: scripted)
    }

    func isData(_ path: String) -> Bool {
      data.map(path.hasPrefix) == true && documents.map(path.hasPrefix) != true
    }
  }

  /// The facts of a request that the checks use.
  package struct Facts: Sendable {
    /// GET or HEAD.
    package let isReading: Bool
    package let path: String
    let host: String?
    /// The value of each header by its name in lower case.
    package private(set) var headers: [String: String] = [:]
    let paths: Paths

    /// The facts of `request` to a server with `paths`.
    package init(_ request: Request, paths: Paths = .none) {
      self.paths = paths
      isReading = request.method == .get || request.method == .head
      path = request.uri.path
      host = request.head.authority
      for field in request.headers {
        // Joins repeated headers, so that none passes the checks with its first value alone.
        headers[field.name.canonicalName, default: ""] +=
          (headers[field.name.canonicalName] == nil ? "" : ";") + field.value
      }
    }

    /// True if a browser wants to show the answer as a document. Old browsers and other programs do not send the
    /// header: then every path counts that is not for data.
    package var isDocument: Bool {
      guard isReading else { return false }
      guard let destination = headers["sec-fetch-dest"] else {
        return !paths.isData(path)
      }
      return destination == "document"
    }

    /// True if a document is to be shown for a route of an app, also if the browser does not send `Sec-Fetch-Dest`.
    package var wantsDocument: Bool {
      guard isReading else { return false }
      if let destination = headers["sec-fetch-dest"], destination != "empty" {
        return destination == "document"
      }
      return headers["accept"]?.contains("text/html") ?? false
    }
  }

  /// The reason why a request is refused.
  package enum Refusal: Hashable, Sendable {
    /// For another host name: DNS rebinding.
    case otherHost
    case otherSite
    case frame
  }

  private let hosts: Set<String>

  /// The gate of the server on `port`.
  package init(port: Int) {
    let names = ["127.0.0.1", "localhost", "[::1]"]
    // Port 80 is not named in addresses.
    hosts = Set(names.map { "\($0):\(port)" } + (port == 80 ? names : []))
  }

  /// Returns `true` if the request is for this server.
  package func isForThisHost(_ facts: Facts) -> Bool { facts.host.map(hosts.contains) ?? false }

  /// The reason to refuse the request; `nil` to serve it.
  package func refusal(of facts: Facts) -> Refusal? {
    guard let host = facts.host, hosts.contains(host) else { return .otherHost }
    if let destination = facts.headers["sec-fetch-dest"], Self.frames.contains(destination) {
      return .frame
    }
    if let origin = facts.headers["origin"], origin != "http://" + host { return .otherSite }
    switch facts.headers["sec-fetch-site"] {
    case nil, "same-origin": return nil
    // The owner typed the address or opened a bookmark. Messages and events come from pages only.
    case "none":
      return facts.isReading && !facts.paths.scripted.contains(facts.path) ? nil : .otherSite
    default: return .otherSite
    }
  }

  private static let frames: Set<String> = [
    "iframe", "frame", "embed", "object", "fencedframe", "portal",
  ]
}
