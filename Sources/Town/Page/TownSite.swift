import Foundation
import Hummingbird
import Logging
import NIOCore
import PWA
import QuietHTTP
import World

/// The town page: a server on loopback with the page and the state of a town.
package struct TownSite: Sendable {
  private let routes: TownRoutes
  private let secret: WebSecret
  private let port: Int
  private let logger: Logger

  /// Creates a site that listens when it is run.
  ///
  /// - Parameter port: The port, or 0 for any free port.
  /// - Throws: `TownSiteError` if the program's own files are missing.
  package init(
    of town: LiveTown, port: Int, randomness: any Randomness, logger: Logger
  ) throws(TownSiteError) {
    self.port = port
    self.logger = logger
    secret = WebSecret(randomness: randomness)
    routes = TownRoutes(
      town: town, files: try TownFiles(), secret: secret, users: WebUsers(owner: geteuid()))
  }

  /// Serves until the task is cancelled.
  ///
  /// - Parameter ready: Called with the address that the user opens first.
  /// - Throws: `TownSiteError.port` if the port is not available, or the error of `ready`.
  package func run(ready: @Sendable (String) throws -> Void) async throws {
    let router = Router(context: QuietContext.self)
    router.add(middleware: routes)
    var quiet = logger
    quiet.logLevel = .critical
    let server = QuietServer(router: router, host: "127.0.0.1", port: port, logger: quiet)
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        do {
          try await server.run()
        } catch let error as IOError where [EADDRINUSE, EACCES].contains(error.errnoCode) {
          throw TownSiteError.port(port)
        }
      }
      let bound = await server.boundPort
      if bound > 0 { try ready("http://127.0.0.1:\(bound)/?secret=\(secret.hex)") }
      try await group.waitForAll()
    }
  }
}

/// The files of the page, in memory.
struct TownFiles: Sendable {
  struct File: Sendable {
    let content: Data
    let type: String
  }

  private static let names = [
    "index.html", "town.css", "town.js", "api.js", "dom.js", "texts.js", "map.js", "people.js",
    "clock.js", "feed.js", "tour.js", "texts/en.json", "texts/pl.json",
  ]

  private let files: [String: File]

  init() throws(TownSiteError) {
    // `Bundle.module` would end the program if the resources are missing.
    let folder = Bundle.main.bundleURL.appendingPathComponent("firebreak_Town.resources/TownPage")
    var files: [String: File] = [:]
    for name in Self.names {
      guard let content = try? Data(contentsOf: folder.appendingPathComponent(name)) else {
        throw .files
      }
      files["/" + name] = File(content: content, type: ContentType(fileName: name).header)
    }
    if let index = files["/index.html"] {
      files["/"] = File(content: index.content, type: "text/html; charset=utf-8")
    }
    self.files = files
  }

  subscript(path: String) -> File? { files[path] }
}

/// The reason why the town page cannot be served.
package enum TownSiteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The program's own files are missing.
  case files
  case port(Int)

  package var description: String {
    switch self {
    case .files: "The files of the town page are missing beside the program: install them again."
    case .port(let port): "Port \(port) is not available: choose another with --port, or 0 for any."
    }
  }
}
