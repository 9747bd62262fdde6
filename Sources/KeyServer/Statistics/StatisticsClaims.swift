import Foundation
import UploadToken

/// What an authority says of itself when it asks for its statistics.
struct StatisticsClaims: Decodable {
  /// The audience of such a token.
  static let audience = "keyserver"

  let iss: String
  let aud: Names
  let iat: Int64?
  let nbf: Int64?
  let exp: Int64

  /// One name or several (RFC 7519 4.1.3).
  struct Names: Decodable {
    let names: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let name = try? container.decode(String.self) {
        names = [name]
      } else {
        names = try container.decode([String].self)
      }
    }
  }

  /// Whether it is for us, and good at `now`.
  func isGood(at now: Date) -> Bool {
    let seconds = now.timeIntervalSince1970
    return aud.names == [Self.audience] && seconds < TimeInterval(exp)
      && seconds >= TimeInterval(max(iat ?? 0, nbf ?? 0))
  }
}
