import CallableEnvelope
import Crypto
import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI

/// Who may use a route of Google's contract, and how often.
struct Caller: Sendable {
  let kind: ApiKeyKind
  let check: ApiKeyCheck
  let netmasks: Netmasks
  /// Guesses at API keys, by address.
  let attempts: Attempts
  let isInMaintenance: Bool

  /// Looks at the address and then at the API key before the body is read; decoys show one as well. From
  /// elsewhere no key is looked at, so nobody there can try one, and the two refusals are one.
  func gate(headers: HTTPFields, context: QuietContext) async throws -> QuietAnswer? {
    if isInMaintenance {
      return try QuietAnswer(
        VerificationFailure(.maintenanceMode, "The server is being worked on; try again later."),
        retryAfterSeconds: Self.maintenanceSeconds)
    }
    guard netmasks.contain(context) else { return try refusal() }
    try await attempts.check(context)
    let holder = try await QuietRefusal.whereStorageFails(context.logger) {
      try await check.holder(of: headers[.apiKey], kind: kind)
    }
    guard holder != nil else {
      try await attempts.count(from: context)
      return try refusal()
    }
    return nil
  }

  private func refusal() throws -> QuietAnswer {
    try QuietAnswer(
      VerificationFailure(
        .unauthorized,
        "\(VerificationRoute.apiKeyHeader) must be a key of kind \(kind.rawValue),"
          + " shown from where its holders may ask."))
  }

  private static let maintenanceSeconds = 600
}

extension QuietRequest {
  /// The API key that the gate let in.
  var apiKeyID: ApiKeyID? { ApiKeyText(headers[.apiKey])?.id }
}

/// The health authority's own systems, by where they stand and the api token they show.
///
/// Documentation/SeedContract.md 2.3 and 2.6.
struct Operators: Sendable {
  let apiTokens: ApiTokens
  let netmasks: Netmasks
  let attempts: Attempts

  /// Looks at the address and then at the api token before the body is read; decoys show one as well. From
  /// elsewhere no token is looked at, so nobody there can try one, and the two refusals are one.
  func gate(headers: HTTPFields, context: QuietContext) async throws -> QuietAnswer? {
    guard netmasks.contain(context) else { return try Self.refusal() }
    try await attempts.check(context)
    let shown = HTTPFields.Element.Name(VerificationRoute.apiTokenHeader).flatMap { headers[$0] }
    guard apiTokens.contain(shown) else {
      try await attempts.count(from: context)
      return try Self.refusal()
    }
    return nil
  }

  private static func refusal() throws -> QuietAnswer {
    try QuietAnswer(
      CallableFailure(
        .permissionDenied,
        message: "Show a valid \(VerificationRoute.apiTokenHeader), from where operators may ask."))
  }
}

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
