import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import QuietHTTP
import UploadToken
import World

/// Reads the pages on which authorities publish their keys, and writes down what has changed.
///
/// Documentation/KeyServer.md 8.3. A page that cannot be read changes nothing: the keys that were there
/// stay good.
struct AuthorityKeyPull: Sendable {
  let register: RegisterDesk
  let store: any KeyStore
  var client = HTTPClient.withoutRedirects
  let clock: any WallClock
  let logger: Logger

  /// Reads every page once.
  func pullAll() async throws {
    for authority in try await register.register().authorities.values {
      guard let url = authority.jwksURL else { continue }
      guard let keys = await keys(at: url) else {
        logger.warning("an authority's keys could not be read")
        continue
      }
      let now = clock.now
      try await store.replacePulledKeys(
        of: authority.issuer, with: keys, at: now,
        othersEnd: now.addingTimeInterval(KeyServerLimit.pulledKeyAfterlifeSeconds))
    }
    register.forget()
  }

  /// Reads the pages again and again until the task is cancelled.
  func pullForever() async {
    while !Task.isCancelled {
      do { try await pullAll() } catch {
        // Whoever stops the server has not asked for the keys.
        if Task.isCancelled { return }
        logger.error(
          "the authorities' keys were not kept", metadata: KeyServerError.metadata(of: error))
      }
      let next = clock.now.addingTimeInterval(KeyServerLimit.keyPullSeconds)
      do { try await clock.sleep(until: next) } catch { return }
    }
  }

  /// The keys of one page in PEM, by id; nil where it cannot be read or holds none that we can use.
  private func keys(at url: URL) async -> [String: String]? {
    do {
      var request = HTTPClientRequest(url: url.absoluteString)
      request.headers.add(name: "accept", value: "application/json")
      let response = try await client.execute(
        request, timeout: .seconds(Int64(KeyServerLimit.keyPullAnswerSeconds)))
      guard response.status == .ok else { return nil }
      let body = try await response.body.collect(upTo: KeyServerLimit.keyPageBytesMax)
      let set = try JSONDecoder().decode(
        JSONWebKeySet.self, from: Data(body.readableBytesView))
      let keys = set.publicKeysPEM
      // An empty page is more likely a fault of theirs than the end of all their keys.
      return (1...KeyServerLimit.pulledKeysMax).contains(keys.count) ? keys : nil
    } catch {
      return nil
    }
  }
}
