import Foundation

extension URL {
  /// A server of this machine.
  package static func loopback(port: Int) -> URL {
    var parts = URLComponents()
    parts.scheme = "http"
    parts.host = "127.0.0.1"
    parts.port = port
    // Components of a fixed scheme and host always make a URL.
    return parts.url ?? URL(fileURLWithPath: "/")
  }
}
