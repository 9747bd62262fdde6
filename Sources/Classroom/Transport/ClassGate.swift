import Foundation
import Hummingbird
import NIOCore
import Secrets
import World

/// The checks of a request before anything else is done with it: that it is for this class, and from one of its pages.
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

/// The secret of the teacher: in the address that is printed once, then in a cookie that scripts cannot read.
struct TeacherSecret: Redacted, Sendable {
  private static let byteCount = 32

  /// 64 hexadecimal digits.
  let hex: String

  init(randomness: any Randomness) {
    hex = randomness.bytes(Self.byteCount)
      .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  func matches(_ text: String) -> Bool { isEqualInConstantTime(text.utf8, hex.utf8) }
}

/// The cookies of the class. Cookies do not distinguish ports, so their names do.
struct ClassCookies: Sendable {
  let port: Int

  private var pupilName: String { "class-\(port)" }
  private var teacherName: String { "class-teacher-\(port)" }
  private static let attributes = "Path=/; HttpOnly; SameSite="

  /// Sent also if a pupil follows a link from a message, or they would get a second phone. It survives the end of the
  /// browser: phones end browsers that are in the background.
  func pupil(_ token: SessionToken) -> String {
    "\(pupilName)=\(token.text); Max-Age=\(ClassLimit.sessionSeconds); \(Self.attributes)Lax"
  }

  var noPupil: String { "\(pupilName)=; Max-Age=0; \(Self.attributes)Lax" }

  func teacher(_ secret: TeacherSecret) -> String {
    "\(teacherName)=\(secret.hex); \(Self.attributes)Strict"
  }

  /// The session of a pupil's browser.
  func session(of request: Request) -> String? { values(pupilName, of: request).first }

  func isTeacher(_ request: Request, _ secret: TeacherSecret) -> Bool {
    values(teacherName, of: request).contains(where: secret.matches)
  }

  private func values(_ name: String, of request: Request) -> [String] {
    request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { cookie in
      let parts = cookie.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name else {
        return nil
      }
      return parts[1].trimmingCharacters(in: .whitespaces)
    }
  }
}
