// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP

/// Refuses requests that name another host than the console's, and tells browsers to open an `https` console only
/// encrypted.
struct HostCheck: RouterMiddleware {
  typealias Context = QuietContext

  let pages: PageRouter
  /// The hosts under which a proxy may pass on requests.
  private let names: Set<String>
  private let isEncrypted: Bool

  init(pages: PageRouter, origin: String?) {
    self.pages = pages
    isEncrypted = origin?.hasPrefix("https:") ?? false
    let address = origin.flatMap { URL(string: $0) }
    let host = address?.host()?.lowercased()
    names = Set(
      [host.map { host in address?.port.map { "\(host):\($0)" } ?? host }].compactMap(\.self))
  }

  func handle(
    _ request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    var response =
      context.isNamed(request.head.authority, names: names)
      ? try await next(request, context) : await pages.otherHost(request, context)
    if isEncrypted { response.headers[.strictTransportSecurity] = Self.encryption }
    return response
  }

  /// One year (RFC 6797). Other hosts of the domain are not the console's.
  private static let encryption = "max-age=31536000"
}

/// Responds to requests for unknown paths with a page.
struct UnknownPages: RouterMiddleware {
  typealias Context = QuietContext

  let pages: PageRouter

  func handle(
    _ request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as HTTPError where [404, 405].contains(error.status.code) {
      return await pages.notFound(request, context)
    }
  }
}
