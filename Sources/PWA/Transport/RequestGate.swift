// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The checks that every request passes first: it is for this server, from a page of this server, and not for a frame.
///
/// A browser of the owner also sends the requests of other sites' pages. It marks them with `Origin` and the headers of
/// Fetch Metadata, which pages cannot set.
package struct RequestGate: Sendable {
  /// The facts of a request that the checks use.
  package struct Facts: Sendable {
    /// GET or HEAD.
    var isReading = true
    package var path = "/"
    var host: String?
    /// The value of each header by its name in lower case.
    package var headers: [String: String] = [:]

    /// True if a browser wants to show the answer as a document. Old browsers and other programs do not send the
    /// header: then every path outside the bridge counts.
    package var isDocument: Bool {
      guard isReading else { return false }
      guard let destination = headers["sec-fetch-dest"] else {
        return !path.hasPrefix(WebPath.bridge) || path.hasPrefix(WebPath.open)
      }
      return destination == "document"
    }

    /// True if a document is to be shown for a route of the app, also if the browser does not send `Sec-Fetch-Dest`.
    var wantsDocument: Bool {
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
  func isForThisHost(_ facts: Facts) -> Bool { facts.host.map(hosts.contains) ?? false }

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
    case "none": return facts.isReading && !WebPath.isForPages(facts.path) ? nil : .otherSite
    default: return .otherSite
    }
  }

  private static let frames: Set<String> = [
    "iframe", "frame", "embed", "object", "fencedframe", "portal",
  ]
}

/// The paths of the bridge. All others are the web app's.
enum WebPath {
  static let bridge = "/firebreak/"
  static let script = "/firebreak/bridge.js"
  static let messages = "/firebreak/messages"
  static let events = "/firebreak/events"
  static let session = "/firebreak/session"
  static let texts = "/firebreak/texts/"
  static let open = "/firebreak/open/"

  /// True for the paths that only the script of the bridge uses.
  static func isForPages(_ path: String) -> Bool { [messages, events, session].contains(path) }
}
