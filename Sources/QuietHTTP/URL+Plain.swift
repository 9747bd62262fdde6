import Foundation

extension URL {
  /// Whether nothing that goes there goes over a wire in plain: https anywhere, http on this machine only.
  /// Documentation/Serving.md 9.5.
  public var isNeverPlain: Bool {
    scheme == "https"
      || scheme == "http" && ["127.0.0.1", "localhost", "[::1]", "::1"].contains(host)
  }
}
