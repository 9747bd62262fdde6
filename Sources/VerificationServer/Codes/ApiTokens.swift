import Crypto
import Foundation

/// The tokens with which the health authority's own systems show who they are; kept as hashes.
///
/// Several are good at once, so that a token can be changed without a gap.
struct ApiTokens: Sendable {
  private let hashes: [SHA256Digest]

  /// Accepts `tokens`.
  ///
  /// - Throws: `VerificationServerError.badConfiguration` where one is too short or too long, or
  ///   there are too many.
  init(_ tokens: [String]) throws {
    let lengths = VerificationLimit.apiTokenCharacters
    guard tokens.allSatisfy({ lengths.contains($0.utf8.count) }) else {
      throw VerificationServerError.badConfiguration(
        "apiTokens: each must have \(lengths.lowerBound) to \(lengths.upperBound) characters.")
    }
    guard tokens.count <= VerificationLimit.apiTokensMax else {
      throw VerificationServerError.badConfiguration(
        "apiTokens: there may be at most \(VerificationLimit.apiTokensMax).")
    }
    hashes = tokens.map { SHA256.hash(data: Data($0.utf8)) }
  }

  /// Whether `presented` is one of them. Takes as long for a wrong one as for a right one: digests
  /// compare in constant time, and all of them are compared.
  func contain(_ presented: String?) -> Bool {
    let hash = SHA256.hash(data: Data((presented ?? "").utf8))
    return hashes.reduce(false) { found, known in
      let equal = known == hash
      return found || equal
    }
  }
}

extension ApiTokens: CustomStringConvertible, CustomReflectable {
  var description: String { "ApiTokens(\(hashes.count))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
