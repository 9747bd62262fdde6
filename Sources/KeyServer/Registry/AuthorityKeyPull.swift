// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import QuietHTTP
import ServerMetrics
import ServerStorage
import TextEncodings
import UploadToken
import World

/// Reads the pages on which authorities publish their keys (JWKS), and stores the changes.
///
/// A key that is not on its page any more is removed. A page that cannot be read changes nothing: the known keys stay
/// valid.
struct AuthorityKeyPull: Sendable {
  let registry: CachedRegistry
  let store: any KeyStore
  var client = HTTPClient.withoutRedirects
  let timeoutSeconds: Int64
  let clock: any WallClock
  let pages: ServiceFailureLog
  let logger: Logger

  init(
    registry: CachedRegistry, store: any KeyStore, timeoutSeconds: Int64, clock: any WallClock,
    logger: Logger
  ) {
    self.registry = registry
    self.store = store
    self.timeoutSeconds = timeoutSeconds
    self.clock = clock
    self.logger = logger
    pages = ServiceFailureLog(
      name: "key page", advice: "its known keys stay valid; check the authority's jwksURL",
      clock: clock, logger: logger)
  }

  /// Reads every page once, all at the same time: one that does not answer must not delay the others.
  func pullAll() async throws {
    let authorities = try await registry.registry().authorities.values
    try await withThrowingTaskGroup(of: Void.self) { group in
      for authority in authorities {
        guard let url = authority.jwksURL else { continue }
        group.addTask { try await pull(authority.issuer, from: url) }
      }
      try await group.waitForAll()
    }
  }

  private func pull(_ issuer: String, from url: URL) async throws {
    let keys: [String: String]
    do throws(PageFailure) {
      keys = try await self.keys(at: url)
    } catch {
      // A shutdown is no failure of the page.
      if !Task.isCancelled { pages.failed(error.text, part: issuer) }
      return
    }
    if keys.isEmpty {
      pages.failed("the page has no P-256 key, so its certificates are refused", part: issuer)
    } else {
      pages.succeeded(part: issuer)
    }
    let now = clock.now
    let isChanged = try await store.replacePulledKeys(
      of: issuer, with: keys, at: now,
      othersEnd: now.addingTimeInterval(KeyServerLimit.pulledKeyAfterlifeSeconds))
    if isChanged { registry.invalidate() }
  }

  /// Reads the pages periodically until the task is cancelled, and records each run in `jobs`.
  func pullForever(_ jobs: BackgroundJobs) async {
    var isFirst = true
    while !Task.isCancelled {
      do { try await jobs.record(.keyPull) { try await pullAll() } } catch {
        // A shutdown is not an error.
        if Task.isCancelled { return }
        logger.error(
          "authority keys not stored; the next attempt follows",
          metadata: KeyServerError.metadata(of: error))
      }
      // The registry of the start is read again, so that the entries of a new server count at once.
      if isFirst { registry.invalidate() }
      isFirst = false
      let next = clock.now.addingTimeInterval(KeyServerLimit.keyPullSeconds)
      do { try await clock.sleep(until: next) } catch { return }
    }
  }

  /// The reason why a page cannot be read.
  private struct PageFailure: Error {
    let text: String
  }

  /// The P-256 keys of one page in PEM, by id.
  private func keys(at url: URL) async throws(PageFailure) -> [String: String] {
    let body: Data
    do {
      var request = HTTPClientRequest(url: url.absoluteString)
      request.headers.add(name: "accept", value: "application/json")
      let response = try await client.execute(
        request, timeout: .seconds(timeoutSeconds))
      guard response.status == .ok else {
        throw PageFailure(text: "status \(response.status.code)")
      }
      body = Data(
        try await response.body.collect(upTo: KeyServerLimit.keyPageBytesMax).readableBytesView)
    } catch let failure as PageFailure {
      throw failure
    } catch is NIOTooManyBytesError {
      throw PageFailure(text: "more than \(KeyServerLimit.keyPageBytesMax) bytes")
    } catch {
      throw PageFailure(text: ErrorCause.text(error))
    }
    guard let set = JSONDecoder().decodeIfValid(JSONWebKeySet.self, from: body) else {
      throw PageFailure(text: "status 200 with \(body.count) bytes that are no key set")
    }
    let keys = set.publicKeysPEM
    guard keys.count <= KeyServerLimit.pulledKeysMax else {
      throw PageFailure(text: "more than \(KeyServerLimit.pulledKeysMax) keys")
    }
    return keys
  }
}
