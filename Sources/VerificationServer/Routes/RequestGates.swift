import CallableEnvelope
import Crypto
import Foundation
import Hummingbird
import QuietHTTP
import Secrets
import VerificationAPI

/// The check of requests to Google's contract before the body is read: maintenance, address, API key.
struct APIKeyGate: Sendable {
  /// The kinds of keys that are allowed for the route.
  let kinds: Set<APIKeyKind>
  let apiKeys: APIKeys
  let netmasks: Netmasks
  /// Counts wrong API keys by address.
  let failures: FailureBudget
  let isInMaintenance: Bool

  /// Checks the address first and then the API key, also for decoys.
  ///
  /// Keys from an address outside the netmasks are rejected without a check, so that they cannot be guessed from
  /// there. Both errors have the same response.
  func check(headers: HTTPFields, context: QuietContext) async throws -> PaddedResponse? {
    if isInMaintenance {
      return try PaddedResponse(
        VerificationFailure(.maintenanceMode, "The server is in maintenance: retry later."),
        retryAfterSeconds: Self.maintenanceSeconds)
    }
    guard netmasks.contain(context) else { return try refusal() }
    return try await failures.attempt(from: context) {
      let holder = try await QuietRefusal.mappingStorageErrors(context.logger) {
        try await apiKeys.holder(of: headers[.apiKey], kinds: kinds)
      }
      return holder == nil ? .failed(try refusal()) : .succeeded(nil)
    }
  }

  private func refusal() throws -> PaddedResponse {
    let names = kinds.map(\.rawValue).sorted().joined(separator: " or ")
    return try PaddedResponse(
      VerificationFailure(
        .unauthorized,
        "\(VerificationRoute.apiKeyHeader) must be a valid key of kind \(names),"
          + " sent from an allowed address."))
  }

  private static let maintenanceSeconds = 600
}

extension QuietRequest {
  /// The API key that `APIKeyGate` accepted.
  var apiKeyID: APIKeyID? { APIKeyText(headers[.apiKey])?.id }
}

/// The check of requests from the health authority's systems to the ProteGO Safe contract before the
/// body is read: address, API token.
struct APITokenGate: Sendable {
  let apiTokens: APITokens
  let netmasks: Netmasks
  let failures: FailureBudget

  /// Checks the address first and then the API token, also for decoys.
  ///
  /// Tokens from an address outside the netmasks are rejected without a check, so that they cannot be guessed from
  /// there. Both errors have the same response.
  func check(headers: HTTPFields, context: QuietContext) async throws -> PaddedResponse? {
    guard netmasks.contain(context) else { return try Self.refusal() }
    let token = HTTPFields.Element.Name(VerificationRoute.apiTokenHeader).flatMap { headers[$0] }
    return try await failures.attempt(from: context) {
      apiTokens.contain(token) ? .succeeded(nil) : .failed(try Self.refusal())
    }
  }

  private static func refusal() throws -> PaddedResponse {
    try PaddedResponse(
      CallableFailure(
        .permissionDenied,
        message:
          "\(VerificationRoute.apiTokenHeader) must be a valid token, sent from an allowed address."
      ))
  }
}

/// The hashes of the tokens that authenticate the health authority's systems.
///
/// Several are valid at once, so that a token can be replaced without a gap.
struct APITokens: Sendable {
  private let hashes: [SHA256Digest]

  /// - Throws: `VerificationServerError.badConfiguration` if a token is too short or too long, or there
  ///   are too many.
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

  /// Returns true if `presented` is a valid token.
  ///
  /// The time does not depend on the token: digests compare in constant time, and all are compared.
  func contain(_ presented: String?) -> Bool {
    let hash = SHA256.hash(data: Data((presented ?? "").utf8))
    return hashes.reduce(false) { found, known in
      let equal = known == hash
      return found || equal
    }
  }
}

extension APITokens: Redacted {
  var description: String { "APITokens(\(hashes.count))" }
}
