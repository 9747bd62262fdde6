import QuietHTTP

/// The cookies of the console.
struct SessionCookie: Sendable {
  let name: String
  private let attributes: String

  /// - Parameters:
  ///   - isEncrypted: True if the console is used over `https`. The cookie is then sent over nothing else.
  ///   - port: The port, which is part of the name: cookies do not distinguish ports.
  init(isEncrypted: Bool, port: Int) {
    name = isEncrypted ? "__Host-firebreak-console" : "firebreak-console-\(port)"
    attributes = "; Path=/; HttpOnly; SameSite=Strict" + (isEncrypted ? "; Secure" : "")
  }

  /// The value of `Set-Cookie` for a session. The browser removes it when it is closed.
  func header(_ session: Session) -> String { "\(name)=\(session.token)\(attributes)" }

  /// The value of `Set-Cookie` that removes the cookie.
  var removal: String { "\(name)=\(attributes); Max-Age=0" }

  /// The token in the header `Cookie`.
  func token(in header: String?) -> String? { Self.value(of: name, in: header) }

  /// The value of a cookie in the header `Cookie`.
  static func value(of name: String, in header: String?) -> String? {
    CookieHeader.values(of: name, in: header).first
  }
}
