// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import Logging
import QuietHTTP
import Settings
import Terminal
import VerificationServer
import World

/// The realms whose servers run in this process, from its start. Later ones are served after a restart.
package struct ServedRealms {
  private let realms: [Realm]
  private let servers: [ServerName]
  private let locks: [ServerLocks]

  /// Creates missing folders of the realms of `folder`, and takes the locks of those of `servers`.
  ///
  /// - Throws: `CommandFailure` if another server runs on one of them.
  package init(of folder: ServerFolder, _ servers: [ServerName]) throws {
    realms = try folder.realms
    let own = servers.filter { $0 != .keys }
    self.servers = own
    locks = try realms.map { realm in
      try realm.folder.create()
      let lock = try ServerLocks(realm.folder, own)
      try realm.folder.refuseRestoration()
      return lock
    }
  }

  /// Opens the databases in PostgreSQL, and creates what the consoles need.
  ///
  /// - Throws: `CommandFailure` if settings, secrets or addresses are wrong. The failure of one realm's database is
  ///   logged: the others are served.
  package func prepare(by setup: ServerSetup, logger: Logger) async throws {
    for realm in realms {
      do {
        let own = setup.setup(of: realm)
        try await own.openDatabases(of: servers, logger: logger)
        guard servers.contains(.console) else { continue }
        try await own.prepareConsole(
          hasVerification: servers.contains(.verification), logger: realm.logger(logger))
      } catch let failure as CommandFailure where failure.status == .badInput {
        throw failure
      } catch {
        realm.report(error, to: logger)
      }
    }
  }

  /// The verification servers of the realms, for the listener of the installation's own.
  ///
  /// - Parameter logger: Returns a logger of the level of the settings.
  /// - Throws: `CommandFailure` if settings or secrets are wrong.
  package func verificationServers(
    by setup: ServerSetup, logger: (Logger.Level) -> Logger
  ) throws -> HostedServers<VerificationServer> {
    var hosted = HostedServers<VerificationServer>()
    guard servers.contains(.verification) else { return hosted }
    for realm in realms {
      let (own, hosts) = (setup.setup(of: realm), Set(realm.properties.hosts))
      let logger = realm.logger(logger(try own.verificationSettings().logLevel))
      try hosted.add(realm, at: hosts, logger) {
        try own.verificationServer(host: "", port: 0, logger: logger)
      } routes: {
        $0.hosted(at: hosts)
      }
    }
    return hosted
  }

  /// The consoles of the realms, for the listener of the installation's own.
  ///
  /// - Parameters:
  ///   - hosts: Returns the address that a server of this process listens on, or would.
  ///   - verification: The verification server that listens for those of the realms.
  ///   - keys: The key server of this process.
  ///   - logger: Returns a logger of the level of the settings.
  /// - Throws: `CommandFailure` if settings or secrets are wrong.
  package func consoles(
    by setup: ServerSetup, hosts: (ServerName) -> String, verification: VerificationServer?,
    keys: KeyServer?, logger: (Logger.Level) -> Logger
  ) throws -> HostedServers<HealthAuthorityConsole> {
    var hosted = HostedServers<HealthAuthorityConsole>()
    guard servers.contains(.console) else { return hosted }
    for realm in realms {
      let own = setup.setup(of: realm)
      let settings = try own.consoleSettings()
      let logger = realm.logger(logger(settings.logLevel))
      let names = Set([settings.originHost].compactMap(\.self))
      try hosted.add(realm, at: names, logger) {
        try own.console(
          hosts: hosts, port: 0, verification: verification,
          realmHost: realm.properties.hosts.first, keys: keys, logger: logger)
      } routes: {
        $0.hosted(at: names)
      }
    }
    return hosted
  }
}

/// Servers of realms, for which another server listens.
package struct HostedServers<Server: Sendable>: Sendable {
  /// The servers by the name of the realm. Those that could not be created are missing.
  private(set) var servers: [String: Server] = [:]
  /// The routes for the listener, also of servers that could not be created.
  package private(set) var routes: [HostedRoutes] = []

  /// No servers.
  package init() {}

  /// Adds the server of `realm`, or the response 503 if its database cannot be opened.
  fileprivate mutating func add(
    _ realm: Realm, at hosts: Set<String>, _ logger: Logger, create: () throws -> Server,
    routes: (Server) -> HostedRoutes
  ) throws {
    do {
      let server = try create()
      servers[realm.name] = server
      self.routes.append(routes(server))
    } catch let failure as CommandFailure where failure.status == .badInput {
      throw failure
    } catch {
      realm.report(error, to: logger)
      self.routes.append(HostedRoutes(unavailableAt: hosts, randomness: SystemRandomness()))
    }
  }
}

extension Realm {
  /// `logger` with the name of the realm in each line.
  fileprivate func logger(_ logger: Logger) -> Logger {
    var logger = logger
    logger[metadataKey: "realm"] = "\(name)"
    return logger
  }

  fileprivate func report(_ error: any Error, to logger: Logger) {
    let cause = (error as? CommandFailure)?.message ?? ErrorCause.text(error)
    self.logger(logger).error(
      "a server of the realm does not run: correct the cause and restart",
      metadata: ["cause": "\(cause)"])
  }
}
