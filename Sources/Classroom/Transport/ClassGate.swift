import Foundation
import Hummingbird
import NIOCore
import QuietHTTP

/// The checks that every request passes first: it is for this class and from one of its pages.
struct ClassGate: Sendable {
  /// The reason why a request is refused.
  enum Refusal: Hashable, Sendable {
    /// For another host name: DNS rebinding.
    case otherHost
    case otherSite
  }

  let addresses: ClassAddresses

  /// The reason to refuse the request; `nil` to serve it.
  func refusal(of request: Request) -> Refusal? {
    guard let host = request.head.authority, addresses.contains(authority: host) else {
      return .otherHost
    }
    guard request.method == .post else { return nil }
    // Browsers send the origin with every POST. The strictest value counts if a header occurs twice.
    let origins = request.headers[values: .origin]
    guard origins.allSatisfy({ $0 == "http://" + host }) else { return .otherSite }
    let sites = HTTPFields.Element.Name("sec-fetch-site").map { request.headers[values: $0] } ?? []
    return sites.allSatisfy { $0 == "same-origin" } ? nil : .otherSite
  }
}

/// The cookie of a pupil's browser. Cookies do not distinguish ports, so the name contains the port.
struct ClassCookies: Sendable {
  let port: Int

  private var pupilName: String { "class-\(port)" }
  private static let attributes = "Path=/; HttpOnly; SameSite="

  /// `SameSite=Lax`, because a pupil who follows a link from a message must keep the phone. The cookie is persistent,
  /// because phones end browsers that are in the background.
  func pupil(_ token: SessionToken) -> String {
    "\(pupilName)=\(token.text); Max-Age=\(ClassLimit.sessionSeconds); \(Self.attributes)Lax"
  }

  var noPupil: String { "\(pupilName)=; Max-Age=0; \(Self.attributes)Lax" }

  /// The session of a pupil's browser.
  func session(of request: Request) -> String? {
    CookieHeader.values(of: pupilName, in: request.headers[.cookie]).first
  }
}
