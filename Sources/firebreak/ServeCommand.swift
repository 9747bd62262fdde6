// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Logging
import PhoneProcess
import QuietHTTP
import ServerOperations
import Settings
import Terminal
import World

/// `firebreak serve`: runs the health authority's servers.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run the health authority's servers until Ctrl-C or SIGTERM.",
    discussion: """
      Secrets and signing keys are created on the first start, in DIR, readable by its owner only. Other \
      settings are in DIR/verification/settings.json, DIR/keys/settings.json and DIR/console/settings.json; \
      `verification-server settings` and `key-server settings` show them; SIGHUP reloads them. `console account \
      add` makes the first account of the console. Requests in progress are finished before the \
      servers stop. Listening sockets of systemd replace the ports. Put a web server with TLS in front of them; \
      a small site uses --tls-port instead.
      """)

  /// The port of the verification server without `--port`; the others follow.
  static let defaultPort = 8_080
  /// The address of the metrics without `--metrics-host`.
  private static let defaultMetricsHost = "127.0.0.1"

  @Option(help: ArgumentHelp("Run one server only.", valueName: "verification|keys|console"))
  var only: ServerName?

  @OptionGroup var options: ServerOptions

  @OptionGroup var cluster: DatabaseOptions

  @Option(
    help: "The first port: P for verification, P+1 for keys, P+2 for the console; 0 for free ports."
  )
  var port = Self.defaultPort

  @Option(help: "The address to listen on.")
  var host = "127.0.0.1"

  @Option(
    help: ArgumentHelp(
      "Serve metrics for Prometheus on this port; 0 for a free one.", valueName: "port"))
  var metricsPort: Int?

  @Option(help: "The address on which metrics are served, by default 127.0.0.1.")
  var metricsHost: String?

  @OptionGroup var tls: TLSOptions

  @Flag(help: "Print the addresses of the servers as one JSON object on the first line.")
  var json = false

  @Flag(help: "Print the settings in force, without secrets, and end.")
  var printConfiguration = false

  @Option(help: "The form of the log on stderr: a line of text or a JSON object for each entry.")
  var logFormat = LogFormat.text

  @Flag(help: "Log to stderr at level info, with the entries of libraries.")
  var verbose = false

  @Flag(help: "Allow the options for developers.")
  var developer = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Run ahead of the machine's clock, or behind it. For developers.", valueName: "seconds"))
  var clockOffset = 0

  @Option(
    help: ArgumentHelp("Follow the clock of a rehearsal. For developers.", valueName: "path"))
  var clockFile: String?

  @Flag(help: ArgumentHelp("Stop when stdin ends.", visibility: .hidden))
  var untilEndOfInput = false

  func validate() throws {
    guard options.realm == nil else {
      throw ValidationError("`serve` runs the servers of all realms: omit --realm.")
    }
    try DeveloperOptions.check(
      clockOffset: clockOffset, clockFile: clockFile, developer: developer)
    guard (0...UInt16.max - 2).contains(UInt16(exactly: port) ?? .max) else {
      throw ValidationError("--port takes 0 to \(UInt16.max - 2).")
    }
    guard metricsPort.map({ (0...Int(UInt16.max)).contains($0) }) ?? true else {
      throw ValidationError("--metrics-port takes 0 to \(UInt16.max).")
    }
    guard metricsHost == nil || metricsPort != nil else {
      throw ValidationError("--metrics-host has no effect without --metrics-port.")
    }
    try refuseOverlaps()
  }

  func run() async throws { try await logFormat.withRemarks { try await serve() } }

  private func serve() async throws {
    if untilEndOfInput { EndOfInput.stopAtEndOfInput() }
    // Until the loop below handles it: a renewed certificate must not end a start, which reads all files anyway.
    signal(SIGHUP, SIG_IGN)
    FileDescriptors.raiseLimit()
    let folder = ServerFolder(at: options.data)
    let clock = try DeveloperOptions.clock(offset: clockOffset, file: clockFile)
    let setup = try currentSetup(in: folder, clock: clock)
    tellUnusedVariables(of: setup)
    try folder.refuseEnded()
    try folder.refuseRealm()
    // Before anything is created, so that a failed start leaves nothing.
    try check(setup)
    _ = try tls.identity()
    let sockets = try serviceSockets(setup)
    if printConfiguration { return try printSettings(of: setup) }
    let served = ServerName.allCases.filter(isServed)
    if !folder.exists {
      try requirePorts(setup, sockets)
      try await setup.requireDatabases(of: served)
    }
    try folder.create()
    let locks = try ServerLocks(folder, served)
    let realms = try ServedRealms(of: folder, served)
    defer { withExtendedLifetime((locks, realms)) {} }
    try folder.rememberConfiguration(options.configurationFile, of: served)
    try folder.refuseRestoration()
    // With the locks, which a deletion needs too.
    try folder.refuseEnded()
    try requirePorts(setup, sockets)
    sockets.use()
    try await prepare(setup, served, realms)
    let shared = try await setup.sharedFolders(of: served, logger: logger(level: .error))
    let loop = ServerLoop(
      // At a reload, the file of --config is read again as well.
      create: {
        var setup = try currentSetup(in: folder, clock: clock)
        setup.shared = shared
        return try servers(of: setup, realms, on: $0, sockets)
      },
      notifier: ServiceNotifier(
        environment: ProcessInfo.processInfo.environment,
        processIdentifier: ProcessInfo.processInfo.processIdentifier),
      logger: logger(level: .error))
    try await loop.run { ports in
      let addresses = try addresses(ports, setup, sockets)
      try json ? printJSON(addresses) : StandardOutput.write(addresses.text)
    }
  }

  /// The servers of `folder`, which warn in the form of the log.
  private func currentSetup(in folder: ServerFolder, clock: any WallClock) throws -> ServerSetup {
    try options.setup(folder, database: cluster.address, clock: clock, isServing: true) {
      [logFormat] in logFormat.tell($0, level: .warning)
    }
  }

  private func tellUnusedVariables(of setup: ServerSetup) {
    for name in setup.folder.shared?.unusedVariables ?? [] {
      logFormat.tell("\(name.printable) names no server, and has no effect.")
    }
  }

  private func prepare(
    _ setup: ServerSetup, _ served: [ServerName], _ realms: ServedRealms
  ) async throws {
    realms.list(in: setup.folder, served) { logFormat.tell($0, level: .warning) }
    try await setup.openDatabases(of: served, logger: logger(level: .critical))
    if clockOffset != 0 { try await setup.confirmClock() }
    if isServed(.console) {
      try await setup.prepareConsole(
        hasVerification: isServed(.verification), logger: logger(level: .warning))
    }
    try await realms.prepare(by: setup, logger: logger(level: .warning))
  }

  /// The addresses that the servers listen on. Says if the console is for this machine only.
  private func addresses(
    _ ports: ServerPorts, _ setup: ServerSetup, _ sockets: ServiceSockets
  ) throws -> ServerAddresses {
    var (hosts, tlsHosts): ([ServerName: String], [ServerName: String]) = ([:], [:])
    for server in ServerName.allCases {
      hosts[server] = sockets[server]?.host ?? host
      tlsHosts[server] = try sockets.secured(server)?.host ?? tlsHost(of: server, setup)
    }
    if isServed(.console), sockets[.console] == nil {
      hosts[.console] = try setup.consoleHost(host)
      if hosts[.console] != host { logFormat.tell(ConsoleSettings.localNote) }
    }
    return ServerAddresses(
      ports, hosts: hosts, metricsHost: sockets.metrics?.host ?? metricsAddress,
      tlsHosts: tlsHosts)
  }

  /// The sockets of systemd that the servers use.
  private func serviceSockets(_ setup: ServerSetup) throws -> ServiceSockets {
    let sockets = try ServiceSockets(
      environment: ProcessInfo.processInfo.environment,
      processIdentifier: ProcessInfo.processInfo.processIdentifier)
    try sockets.check(serves: isServed, hasTLS: tls.tlsPort != nil)
    try requireConsoleHosts(sockets, setup)
    return sockets
  }

  /// Throws if the console may not listen on the addresses of its sockets. At a reload the present servers stay then.
  private func requireConsoleHosts(_ sockets: ServiceSockets, _ setup: ServerSetup) throws {
    try requireConsoleHost(sockets[.console], setup.consoleHost)
    try requireConsoleHost(sockets.secured(.console), setup.consoleTLSHost)
  }

  private func requireConsoleHost(
    _ socket: InheritedSocket?, _ permitted: (String) throws -> String
  ) throws {
    guard let socket, try permitted(socket.host) != socket.host else { return }
    throw CommandFailure.badInput(
      "The socket of the console listens on \(socket.host), but without an https origin in its settings the console"
        + " is for this machine: let the socket listen on 127.0.0.1.")
  }

  /// The servers with the current settings, on their sockets, on `ports`, or on those of the command line.
  private func servers(
    of setup: ServerSetup, _ realms: ServedRealms, on ports: ServerPorts?,
    _ sockets: ServiceSockets
  ) throws -> RunningServers {
    try check(setup)
    try requireConsoleHosts(sockets, setup)
    let identity = try tls.identity()
    let hosted = try realms.verificationServers(by: setup, logger: logger)
    let verification =
      isServed(.verification)
      ? try setup.verificationServer(
        host: sockets[.verification]?.host ?? host,
        port: sockets[.verification]?.port ?? ports?.verification ?? port, hosted: hosted.routes,
        logger: logger(level: try setup.verificationSettings().logLevel)) : nil
    let keys =
      isServed(.keys)
      ? try setup.keyServer(
        host: sockets[.keys]?.host ?? host,
        port: sockets[.keys]?.port ?? ports?.keys ?? port(of: .keys),
        logger: logger(level: try setup.keySettings().logLevel)) : nil
    let consoles = try realms.consoles(
      by: setup, hosts: { sockets[$0]?.host ?? host }, verification: verification, keys: keys,
      logger: logger)
    let console =
      isServed(.console)
      ? try setup.console(
        hosts: { sockets[$0]?.host ?? host },
        port: sockets[.console]?.port ?? ports?.console ?? port(of: .console),
        hosted: consoles.routes, verification: verification, keys: keys,
        logger: logger(level: try setup.consoleSettings().logLevel)) : nil
    // After all servers have opened their databases, so that an error of one of them is the only line.
    if keys != nil { logFormat.tell(try setup.keySettings().deviceVerificationNote) }
    let others = realms.servers(hosted, consoles, by: setup, logger: logger(level: .error))
    let metrics = (sockets.metrics?.port ?? metricsPort).map { port in
      ServerMetricsSource(
        verification: verification, keys: keys, console: console, realms: others, of: setup.folder,
        certificateExpiresAt: identity?.expiresAt,
        version: (ProductVersion.number, BuildCommit.name)
      ).endpoint(
        host: sockets.metrics?.host ?? metricsAddress,
        port: sockets.metrics?.port ?? ports?.metrics ?? port, logger: logger(level: .error))
    }
    let shared = setup.shared.map {
      SharedFolderFollower($0, of: setup, keys: keys, logger: logger(level: .error))
    }
    let servers = RunningServers(
      verification: verification, keys: keys, console: console, metrics: metrics, shared: shared,
      realms: others)
    return try addingTLS(to: servers, by: identity, of: setup, on: ports, sockets)
  }

  /// The servers, and the same ones with TLS if there is a certificate.
  private func addingTLS(
    to servers: RunningServers, by identity: TLSIdentity?, of setup: ServerSetup,
    on ports: ServerPorts?, _ sockets: ServiceSockets
  ) throws -> RunningServers {
    guard let identity, let first = tls.tlsPort else { return servers }
    if let warning = tls.warning(of: identity, at: SystemClock().now) { logFormat.tell(warning) }
    let consoleHost = try tlsHost(of: .console, setup)
    func securedHost(of server: ServerName) -> String {
      if let socket = sockets.secured(server) { return socket.host }
      return server == .console ? consoleHost : tls.host
    }
    func securedPort(of server: ServerName) -> Int {
      if let socket = sockets.secured(server) { return socket.port }
      return ports?.secured[server] ?? port(of: server, from: first)
    }
    return servers.addingTLS(by: identity, host: securedHost, port: securedPort)
  }

  /// The address on which a server listens with TLS.
  private func tlsHost(of server: ServerName, _ setup: ServerSetup) throws -> String {
    try server == .console && isServed(.console)
      ? setup.consoleTLSHost(tls.host) : tls.host
  }

  private func printSettings(of setup: ServerSetup) throws {
    let served = ServerName.allCases.filter(isServed)
    var settings = try Dictionary(
      uniqueKeysWithValues: served.map { ($0.rawValue, try setup.settingsInForce(of: $0)) })
    settings["realms"] = try setup.realmSettingsInForce(of: served)
    try printJSON(settings)
  }

  /// The port of a server: 0 for a free one.
  private func port(of server: ServerName) -> Int { port(of: server, from: port) }

  private func port(of server: ServerName, from first: Int) -> Int {
    guard only == nil, first > 0 else { return first }
    return first + (ServerName.allCases.firstIndex(of: server) ?? 0)
  }

  /// Throws if a server could not listen.
  private func requirePorts(_ setup: ServerSetup, _ sockets: ServiceSockets) throws {
    for server in ServerName.allCases where isServed(server) {
      let host = server == .console ? try setup.consoleHost(host) : host
      if sockets[server] == nil {
        try ListeningAddress(host: host, port: port(of: server)).requireAvailable()
      }
      if let first = tls.tlsPort, sockets.secured(server) == nil {
        try ListeningAddress(
          host: try tlsHost(of: server, setup), port: port(of: server, from: first),
          option: "--tls-port",
          hostOption: "--tls-host"
        ).requireAvailable()
      }
    }
    if let metricsPort, sockets.metrics == nil {
      try ListeningAddress(
        host: metricsAddress, port: metricsPort, option: "--metrics-port",
        hostOption: "--metrics-host"
      ).requireAvailable()
    }
  }

  /// Throws if two options would use one port.
  private func refuseOverlaps() throws {
    let count = only == nil ? ServerName.allCases.count : 1
    let ranges = [
      PortRange("--port", from: port, count),
      PortRange("--tls-port", from: tls.tlsPort ?? 0, count),
      PortRange("--metrics-port", from: metricsPort ?? 0, 1),
    ].compactMap(\.self)
    for (index, first) in ranges.enumerated() {
      for second in ranges[(index + 1)...] where first.ports.overlaps(second.ports) {
        throw ValidationError("\(first.text) and \(second.text) overlap: choose other ports.")
      }
    }
  }

  private var metricsAddress: String { metricsHost ?? Self.defaultMetricsHost }

  private func check(_ setup: ServerSetup) throws {
    for server in ServerName.allCases where isServed(server) {
      try setup.check(server)
      try setup.databaseAddress(of: server)
      if server == .keys { try setup.checkExports() }
    }
    if only == nil { try setup.requireMatchingNames() }
    try setup.checkRealms(withKeys: isServed(.keys))
    if tls.tlsPort != nil, isServed(.console) {
      try setup.requireReachableConsoles(tlsHost: tls.host)
    }
  }

  private func isServed(_ server: ServerName) -> Bool {
    only == nil || only == server
  }

  private func logger(level: Logger.Level) -> Logger {
    guard verbose else {
      return Logger(label: "firebreak") { [logFormat] _ in
        ServerLog(logFormat.handler(level: level))
      }
    }
    return Logger(label: "firebreak") { [logFormat] _ in logFormat.handler(level: .info) }
  }
}

extension ServerName: ExpressibleByArgument {}
