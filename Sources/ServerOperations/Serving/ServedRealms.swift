// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import Logging
import QuietHTTP
import Settings
import Synchronization
import Terminal
import VerificationServer
import World

/// The realms whose servers run in this process, from its start. Later ones are served after a restart.
package struct ServedRealms {
  private let realms: [Realm]
  private let servers: [ServerName]
  private let locks: [ServerLocks]
  private let state = State()

  /// The state of the realms since the start.
  fileprivate final class State: Sendable {
    /// The folders that follow databases in PostgreSQL, by the name of the realm.
    let shared = Mutex<[String: SharedFolders]>([:])
    /// The servers that were created once, by the title and the name of the realm.
    let served = Mutex<Set<String>>([])
    /// The names of the realms whose preparation failed.
    let unprepared = Mutex<Set<String>>([])
  }

  /// Creates missing folders of the realms of `folder`, and takes the locks of those of `servers`.
  ///
  /// - Throws: `CommandFailure` if another server runs on one of them, or their consoles would have no codes.
  package init(of folder: ServerFolder, _ servers: [ServerName]) throws {
    realms = try folder.realms
    guard realms.isEmpty || !servers.contains(.console) || servers.contains(.verification) else {
      throw CommandFailure.badInput(
        "The consoles of realms need the verification server in the same process: omit --only.")
    }
    let own = servers.filter { $0 != .keys }
    self.servers = own
    locks = try realms.map { realm in
      try realm.folder.create()
      let lock = try ServerLocks(realm.folder, own)
      try realm.folder.refuseRestoration()
      return lock
    }
  }

  /// Lists the realms in the settings of `servers` in `folder`. Those of a copied folder, or of the version before, do
  /// not have them.
  ///
  /// - Parameter warn: Called if the settings of a server cannot be written, such as a mounted file.
  package func list(
    in folder: ServerFolder, _ servers: [ServerName], warn: (String) -> Void
  ) {
    guard !realms.isEmpty else { return }
    let names = realms.map(\.name)
    for server in servers {
      do { try RealmMark(in: folder).add(names, to: [server]) } catch {
        warn(
          "\(Realm.cause(of: error)) Until `realms` in the settings lists \(names.joined(separator: ", ")), an older"
            + " version serves this folder without its realms.")
      }
    }
  }

  /// Opens the databases in PostgreSQL, and creates what the consoles need. The failure of one realm is logged: the
  /// others are served.
  package func prepare(by setup: ServerSetup, logger: Logger) async throws {
    for realm in realms {
      let own = setup.setup(of: realm)
      do {
        try await own.openDatabases(of: servers, logger: logger)
        guard servers.contains(.console) else { continue }
        try await own.prepareConsole(
          hasVerification: servers.contains(.verification), logger: realm.logger(logger))
      } catch {
        state.unprepared.withLock { _ = $0.insert(realm.name) }
        realm.report(error, "a realm was not prepared: correct the cause and restart", to: logger)
      }
    }
    for realm in realms {
      do {
        let shared = try await setup.setup(of: realm).sharedFolders(
          of: servers, comparing: false, logger: realm.logger(logger))
        state.shared.withLock { $0[realm.name] = shared }
      } catch {
        state.unprepared.withLock { _ = $0.insert(realm.name) }
        realm.report(
          error, "a realm does not get changes of other processes: correct the cause and restart",
          to: logger)
      }
    }
  }

  /// The setup of `realm`, whose folder follows the databases.
  private func setup(of realm: Realm, by setup: ServerSetup) -> ServerSetup {
    var own = setup.setup(of: realm)
    own.shared = state.shared.withLock { $0[realm.name] }
    return own
  }

  /// The servers of the realms with what lets their folders follow the databases.
  package func servers(
    _ verification: HostedServers<VerificationServer>,
    _ consoles: HostedServers<HealthAuthorityConsole>, by setup: ServerSetup, logger: Logger
  ) -> RealmServers {
    let shared = realms.compactMap { realm in
      let own = self.setup(of: realm, by: setup)
      return own.shared.map {
        SharedFolderFollower($0, of: own, keys: nil, logger: realm.logger(logger))
      }
    }
    return RealmServers(
      verification: verification, consoles: consoles, shared: shared,
      unprepared: state.unprepared.withLock { $0 })
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
      let (own, hosts) = (self.setup(of: realm, by: setup), Set(realm.properties.hosts))
      let logger = realm.logger(logger(try own.verificationSettings().logLevel))
      try hosted.add(realm, .verification, at: hosts, state, logger) {
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
      let own = self.setup(of: realm, by: setup)
      let settings = try own.consoleSettings()
      let logger = realm.logger(logger(settings.logLevel))
      let names = Set([settings.originHost].compactMap(\.self))
      try hosted.add(realm, .console, at: names, state, logger) {
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
  /// The names of the realms whose server could not be created.
  private(set) var missing: Set<String> = []

  /// No servers.
  package init() {}

  /// Adds the server of `realm`, or the response 503 if it cannot be created.
  ///
  /// - Throws: `CommandFailure` if it was created before: the present servers stay then.
  fileprivate mutating func add(
    _ realm: Realm, _ name: ServerName, at hosts: Set<String>, _ state: ServedRealms.State,
    _ logger: Logger, create: () throws -> Server, routes: (Server) -> HostedRoutes
  ) throws {
    let key = "\(name.rawValue) \(realm.name)"
    do {
      let server = try create()
      servers[realm.name] = server
      self.routes.append(routes(server))
      state.served.withLock { _ = $0.insert(key) }
    } catch {
      guard !state.served.withLock({ $0.contains(key) }) else {
        throw CommandFailure.machineFailed("Realm \(realm.name): \(Realm.cause(of: error))")
      }
      realm.report(
        error, "a server of the realm does not run: correct the cause and restart", to: logger)
      missing.insert(realm.name)
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

  fileprivate func report(_ error: any Error, _ effect: Logger.Message, to logger: Logger) {
    self.logger(logger).error(effect, metadata: ["cause": "\(Self.cause(of: error))"])
  }

  fileprivate static func cause(of error: any Error) -> String {
    (error as? CommandFailure)?.message ?? ErrorCause.text(error)
  }
}
