// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import NIOCore
import QuietHTTP
import WebPages
import World

/// The user interface of a phone: a server on loopback with a web app and the bridge between both.
package final class PhoneWebsite: Sendable {
  private let routes: WebRoutes
  private let bridge: Bridge
  private let secret: WebSecret
  private let pages: PageFolder
  /// The copy of the pages for a browser that shows them from files, and its secret.
  private let copy: (pages: PageCopy, secret: WebSecret)?
  private let port: Int
  private let logger: Logger

  /// Creates a website that listens when it is run.
  ///
  /// - Parameters:
  ///   - bridge: The bridge to the phone.
  ///   - port: The port, or 0 for any free port.
  ///   - folder: The web app; our own by default.
  ///   - copy: The folder for a copy of the web app that runs from files; `nil` for none.
  ///   - owner: The user whose browsers need no secret.
  ///   - texts: The texts of a language as JSON; `nil` for an unknown language.
  /// - Throws: `WebsiteError` if the web app cannot be read.
  package init(
    _ bridge: Bridge, port: Int, pages folder: URL? = nil, copy: URL? = nil,
    owner: UInt32 = geteuid(),
    texts: @escaping @Sendable (String) -> Data? = { _ in nil },
    randomness: any Randomness, logger: Logger
  ) throws(WebsiteError) {
    self.bridge = bridge
    self.port = port
    self.logger = logger
    secret = WebSecret(randomness: randomness)
    do { pages = try PageFolder(folder ?? Self.resource("WebApp")) } catch { throw .pages(error) }
    let file = Self.resource("BridgeScript/bridge.js")
    guard let script = FileManager.default.contents(atPath: file.path) else {
      throw .files(.missingFile(file.path))
    }
    let shared: InstalledFiles
    do throws(PageServerError) {
      shared = try InstalledFiles(shared: [.pointerGuard])
    } catch {
      throw .files(error)
    }
    self.copy = copy.map {
      (
        pages: PageCopy(folder: $0, script: script), secret: WebSecret(randomness: randomness)
      )
    }
    routes = WebRoutes(
      bridge: bridge,
      pages: PageRoutes(pages: pages, policy: folder == nil ? .app : .foreignApp),
      script: script, shared: shared, secret: secret, copySecret: self.copy?.secret,
      users: WebUsers(owner: owner), texts: texts)
  }

  /// Serves until the task is cancelled. All streams of events end with it.
  ///
  /// - Parameter ready: Called with the address that the owner opens first, and that of the copy's first page.
  /// - Throws: `WebsiteError.port` if the port is not available, `.pages` if the copy cannot be
  ///   written, or the error of `ready`.
  package func run(
    ready: @Sendable (String, _ copy: String?) throws -> Void = { _, _ in }
  ) async throws {
    defer { removeCopy() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      let first = server(on: "127.0.0.1", port: port)
      group.addTask { try await Self.run(first, port: self.port) }
      let port = await first.boundPort
      guard port > 0 else { return try await group.waitForAll() }
      // Another user must not be able to listen at the address that a browser tries first for localhost.
      let second = server(on: "::1", port: port)
      group.addTask { try await Self.run(second, port: port) }
      let following = await bridge.follow()
      group.addTask { await following() }
      _ = await second.boundPort
      let address = "http://127.0.0.1:\(port)"
      try ready("\(address)/?secret=\(secret.hex)", try writeCopy(server: address))
      try await group.waitForAll()
    }
  }

  /// Removes the copy, unless its folder is not ours.
  private func removeCopy() {
    guard let copy, !pages.overlaps(copy.pages.folder) else { return }
    // A copy that cannot be removed has the secret of a server that has ended.
    try? copy.pages.remove()
  }

  /// Removes the copy in `folder` of a server that ended without removing it; `pages` are the pages to serve now.
  ///
  /// - Throws: If there is a copy that cannot be removed.
  package static func removeLeftoverCopy(in folder: URL, pages: URL?) throws {
    // The error of pages that are not a web app is that of their first use.
    if let pages, (try? PageFolder(pages))?.overlaps(folder) == true { return }
    try PageCopy(folder: folder, script: Data()).remove()
  }

  /// Writes the copy and returns the address of its first page; `nil` without a copy.
  private func writeCopy(server: String) throws(WebsiteError) -> String? {
    guard let copy else { return nil }
    do {
      return try copy.pages.write(pages, server: server, secret: copy.secret.hex).absoluteString
    } catch {
      throw .pages(error)
    }
  }

  private func server(on host: String, port: Int) -> QuietServer {
    let router = Router(context: QuietContext.self)
    router.add(middleware: routes)
    // The HTTP library logs an error for each stream that ends with the server.
    var logger = logger
    logger.logLevel = .critical
    return QuietServer(router: router, host: host, port: port, logger: logger)
  }

  private static func run(_ server: QuietServer, port: Int) async throws {
    do {
      try await server.run()
    } catch let error as IOError where [EADDRINUSE, EACCES].contains(error.errnoCode) {
      throw WebsiteError.port(port)
    } catch let error as IOError where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode) {
      // This machine has no IPv6.
      while !Task.isCancelled { try await Task.sleep(for: .seconds(3_600)) }
    }
  }

  /// The resources of this target. `Bundle.module` would end the program if they are missing.
  private static func resource(_ name: String) -> URL {
    Bundle.main.bundleURL.appendingPathComponent("firebreak_PWA.resources/\(name)")
  }
}

/// The reason why a website cannot be served.
package enum WebsiteError: Error, Hashable, Sendable, CustomStringConvertible {
  case pages(PageFolderError)
  /// A file of the program is missing.
  case files(PageServerError)
  case port(Int)

  package var description: String {
    switch self {
    case .pages(let error): error.description
    case .files(let error): error.description
    case .port(let port): "Port \(port) is not available: name another with --web, or 0 for any."
    }
  }
}
