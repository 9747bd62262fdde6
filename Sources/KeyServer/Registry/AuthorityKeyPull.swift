import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import QuietHTTP
import UploadToken
import World

/// Reads the pages on which authorities publish their keys (JWKS), and stores the changes.
///
/// A page that cannot be read changes nothing: the known keys stay valid.
struct AuthorityKeyPull: Sendable {
  let registry: CachedRegistry
  let store: any KeyStore
  var client = HTTPClient.withoutRedirects
  let timeoutSeconds: Int64
  let clock: any WallClock
  let logger: Logger

  /// Reads every page once.
  func pullAll() async throws {
    for authority in try await registry.registry().authorities.values {
      guard let url = authority.jwksURL else { continue }
      guard let keys = await keys(at: url) else {
        logger.warning(
          "authority keys not read; the known keys stay valid: check the authority's jwksURL")
        continue
      }
      let now = clock.now
      try await store.replacePulledKeys(
        of: authority.issuer, with: keys, at: now,
        othersEnd: now.addingTimeInterval(KeyServerLimit.pulledKeyAfterlifeSeconds))
    }
    registry.invalidate()
  }

  /// Reads the pages periodically until the task is cancelled.
  func pullForever() async {
    while !Task.isCancelled {
      do { try await pullAll() } catch {
        // A shutdown is not an error.
        if Task.isCancelled { return }
        logger.error(
          "authority keys not stored; retrying in an hour",
          metadata: KeyServerError.metadata(of: error))
      }
      let next = clock.now.addingTimeInterval(KeyServerLimit.keyPullSeconds)
      do { try await clock.sleep(until: next) } catch { return }
    }
  }

  /// The keys of one page in PEM, by id; nil if it cannot be read or has no usable key.
  private func keys(at url: URL) async -> [String: String]? {
    do {
      var request = HTTPClientRequest(url: url.absoluteString)
      request.headers.add(name: "accept", value: "application/json")
      let response = try await client.execute(
        request, timeout: .seconds(timeoutSeconds))
      guard response.status == .ok else { return nil }
      let body = try await response.body.collect(upTo: KeyServerLimit.keyPageBytesMax)
      let set = try JSONDecoder().decode(
        JSONWebKeySet.self, from: Data(body.readableBytesView))
      let keys = set.publicKeysPEM
      // An empty key set is more likely an error than a revocation of all keys.
      return (1...KeyServerLimit.pulledKeysMax).contains(keys.count) ? keys : nil
    } catch {
      return nil
    }
  }
}
