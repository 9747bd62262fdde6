// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import PostgreSQL
import Synchronization

/// A PostgreSQL server for tests: a new cluster on a socket in a folder of its own, without a port.
///
/// It runs as the user `postgres` if the test runs as root, which PostgreSQL refuses. It ends with the test process.
public final class PrivatePostgreSQL: Sendable {
  /// Starts the server that the tests of this process share. Its processes belong to no single test.
  private static let sharedServer = Task.detached {
    let server = try await PrivatePostgreSQL()
    ending.withLock { $0 = server }
    atexit {
      let server = PrivatePostgreSQL.ending.withLock { $0 }
      server?.endNow()
      if let folder = server?.folder.url { try? FileManager.default.removeItem(at: folder) }
    }
    return server
  }
  /// The server that ends when the process exits.
  private static let ending = Mutex<PrivatePostgreSQL?>(nil)
  private static let databases = Atomic<Int>(0)

  /// False in `make check`, which starts no process.
  public static let isAvailable = TestNeed.process.isMet

  private let folder: TemporaryFolder
  /// The port and the certificate for TLS; nil for a server with a socket only.
  public let tls: DatabaseTLS?
  /// True for the settings of a server that measurements use: what is committed is on the disk.
  private let isDurable: Bool
  private let postmaster = Mutex<BackgroundProcess?>(nil)

  /// The server of this process, which is started by the first test that needs it.
  public static func shared() async throws -> PrivatePostgreSQL {
    TestNeed.requireCompleteRun(for: .process)
    return try await sharedServer.value
  }

  /// Creates a new database in the server of this process, and returns its address.
  public static func newDatabase() async throws -> String {
    let server = try await shared()
    return try await server.createDatabase()
  }

  /// Creates a new database in the server of this process, and returns its address for tests that do not test
  /// limits of time: a busy machine may need longer than a server's users would wait.
  package static func newPatientDatabase() async throws -> PostgreSQLAddress {
    // The factor does not change the time for a connection.
    var address = try PostgreSQLAddress(try await newDatabase() + " connect_timeout=60")
    address.timeFactor = patience
    return address
  }

  private static let patience = 20.0

  private func patientAddress(_ name: String = "postgres") throws -> PostgreSQLAddress {
    var address = try PostgreSQLAddress(address(name))
    address.timeFactor = Self.patience
    return address
  }

  /// The cluster of which every server gets a copy: to create one takes a second of processor time.
  private static let newCluster = Task.detached {
    let folder = try TemporaryFolder()
    folder.removeAtExit()
    try giveToServer(folder.url)
    let result = try await ChildProcess.run(
      setpriv,
      asServer("initdb") + [
        "-D", folder.path("d").path, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale",
        "--no-sync",
      ])
    guard result.status == 0 else { throw Failure(description: "initdb: \(result.errors)") }
    return folder
  }

  /// Creates a cluster and starts its server.
  ///
  /// - Parameters:
  ///   - name: The name of the machine in the certificate of a server that accepts TLS; nil for a socket only.
  ///   - offersTLS: False for a server with a port that has TLS switched off.
  ///   - isDurable: True for the settings of a real server, for measurements: what is committed is on the disk.
  public init(
    tlsName name: String? = nil, offersTLS: Bool = true, isDurable: Bool = false
  ) async throws {
    folder = try TemporaryFolder()
    self.isDurable = isDurable
    tls = try await Self.tls(name, isOffered: offersTLS, in: folder)
    try Self.giveToServer(folder.url)
    let result = try await ChildProcess.run(
      URL(fileURLWithPath: "/bin/cp"),
      ["--archive", try await Self.newCluster.value.path("d").path, folder.path("d").path])
    guard result.status == 0 else { throw Failure(description: "cp: \(result.errors)") }
    try await start()
  }

  /// Creates and starts a standby of `primary`, for which every commit of the primary waits from then on.
  ///
  /// - Parameter name: As for the primary.
  public init(follow primary: PrivatePostgreSQL, tlsName name: String? = nil) async throws {
    folder = try TemporaryFolder()
    isDurable = false
    tls = try await Self.tls(name, isOffered: true, in: folder)
    try Self.giveToServer(folder.url)
    let result = try await ChildProcess.run(
      Self.setpriv,
      Self.asServer("pg_basebackup") + [
        "-h", primary.folder.url.path, "-p", "\(primary.port)", "-U", "postgres", "-D",
        folder.path("d").path, "-R",
        "-X", "stream", "-c", "fast", "--no-sync",
      ])
    guard result.status == 0 else { throw Failure(description: "pg_basebackup: \(result.errors)") }
    try await start(isStandby: true)
    let database = PostgreSQLDatabase(
      try primary.patientAddress(), connections: 1, logger: .silent)
    _ = try await database.transaction(.none) {
      try $0.run("ALTER SYSTEM SET synchronous_standby_names = '*'").count
    }
    _ = try await database.transaction { try $0.run("SELECT pg_reload_conf()").count }
    try await Patience.until {
      try await database.transaction {
        try $0.run(
          "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        ).firstInteger
      } == 1
    }
  }

  private static func tls(
    _ name: String?, isOffered: Bool, in folder: TemporaryFolder
  ) async throws -> DatabaseTLS? {
    guard let name else { return nil }
    return try await DatabaseTLS(name: name, isOffered: isOffered, in: folder)
  }

  /// Lets the server refuse connections without TLS, and of other networks than `network`, from the next moments on.
  public func requireTLS(from network: String = "127.0.0.1/32") async throws {
    let rules = "local all all trust\nhostssl all all \(network) trust\n"
    // Its owner stays that of the server.
    let file = try FileHandle(forWritingTo: folder.path("d/pg_hba.conf"))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(rules.utf8))
    try file.close()
    try await run("SELECT pg_reload_conf()")
  }

  /// The port, which is also a part of the name of the socket.
  private var port: Int { tls?.port ?? 5_432 }

  /// Lets a standby accept changes.
  public func promote() async throws {
    let result = try await ChildProcess.run(
      Self.setpriv, Self.asServer("pg_ctl") + ["-D", folder.path("d").path, "-w", "promote"])
    guard result.status == 0 else { throw Failure(description: "promote: \(result.errors)") }
  }

  /// The address of two servers, of which the one that accepts changes is used.
  public func address(or other: PrivatePostgreSQL) -> String {
    "host=\(folder.url.path),\(other.folder.url.path) port=\(port),\(other.port) user=postgres dbname=postgres"
  }

  /// Starts the server again after `kill()` or `stop()`.
  public func start() async throws { try await start(isStandby: false) }

  private func start(isStandby: Bool) async throws {
    if let tls { try Self.giveToServer(tls.key) }
    let settings =
      (tls?.settings ?? ["listen_addresses="]) + [
        "synchronous_commit=on", "max_connections=100", "max_prepared_transactions=0",
        "unix_socket_directories=\(folder.url.path)",
      ]
      + (isDurable
        ? ["fsync=on", "shared_buffers=256MB", "max_wal_size=4GB"]
        : ["fsync=off", "full_page_writes=off", "shared_buffers=32MB", "autovacuum=off"])
    let process = try await BackgroundProcess(
      Self.setpriv,
      Self.asServer("postgres") + ["-D", folder.path("d").path] + settings.flatMap { ["-c", $0] })
    postmaster.withLock { $0 = process }
    let attributes = isStandby ? " target_session_attrs=standby" : ""
    let database = PostgreSQLDatabase(
      try PostgreSQLAddress(address() + attributes), connections: 1, logger: .silent)
    try await Patience.until {
      guard process.process.status == nil else {
        throw Failure(description: "postgres: \(try process.process.errors)")
      }
      // It refuses connections while it starts.
      return (try? await database.transaction { try $0.run("SELECT 1").count }) == 1
    }
  }

  /// The address of the database `name` for libpq.
  public func address(_ name: String = "postgres") -> String {
    "host=\(folder.url.path) port=\(port) user=postgres dbname=\(name)"
  }

  /// The address of the database `name` for the role `role`; nil for the role with the name of the database.
  public func address(_ name: String = "postgres", role: String?) -> String {
    "host=\(folder.url.path) port=\(port) dbname=\(name)\(role.map { " user=\($0)" } ?? "")"
  }

  /// Creates a new database and returns its address.
  public func createDatabase() async throws -> String {
    let number = Self.databases.add(1, ordering: .relaxed).newValue
    return try await createDatabase("test_\(number)")
  }

  /// Creates the database `name` and returns its address.
  @discardableResult
  public func createDatabase(_ name: String) async throws -> String {
    try await createDatabase(name, named: name)
  }

  private func createDatabase(_ definition: String, named name: String) async throws -> String {
    let database = PostgreSQLDatabase(
      try patientAddress(), connections: 1, logger: .silent)
    _ = try await database.transaction(.none) {
      try $0.run("CREATE DATABASE \(definition)").count
    }
    return address(name)
  }

  /// Runs a statement in the database `name`.
  ///
  /// - Returns: The first number of its result; nil if there is none.
  @discardableResult
  public func run(_ sql: String, in name: String = "postgres") async throws -> Int64? {
    let database = PostgreSQLDatabase(
      try patientAddress(name), connections: 1, logger: .silent)
    defer { database.close() }
    return try await database.transaction(.none) {
      let rows = try $0.run(sql)
      return rows.count > 0 ? rows.firstInteger : nil
    }
  }

  /// Replaces the database `name` by an empty one.
  public func emptyDatabase(_ name: String) async throws {
    try await run("DROP DATABASE \(name)")
    try await createDatabase(name)
  }

  /// Creates a new database whose tables are on `disk`, and returns its address. The write-ahead log is elsewhere.
  public func createDatabase(on disk: SmallDisk) async throws -> String {
    try Self.giveToServer(disk.url.deletingLastPathComponent())
    try Self.giveToServer(disk.url)
    let database = PostgreSQLDatabase(
      try patientAddress(), connections: 1, logger: .silent)
    _ = try await database.transaction(.none) {
      try $0.run("CREATE TABLESPACE small LOCATION '\(disk.url.path)'").count
    }
    return try await createDatabase("on_small TABLESPACE small", named: "on_small")
  }

  /// Ends the server at once, as a crash does.
  public func kill() async throws {
    guard let process = postmaster.withLock({ $0 })?.process else { return }
    process.send(SIGKILL)
    _ = try await process.wait()
  }

  /// Sends `signal` to all processes of the server: `SIGSTOP` lets it hang, `SIGCONT` continues.
  public func signalAll(_ signal: Int32) {
    guard let process = postmaster.withLock({ $0 })?.process else { return }
    for id in [process.processIdentifier] + Self.children(of: process.processIdentifier) {
      _ = Foundation.kill(id, signal)
    }
  }

  /// The processor time of all processes of the server, also of those that have ended.
  public var processorTime: Duration {
    guard let process = postmaster.withLock({ $0 })?.process else { return .zero }
    let own = process.processIdentifier
    let ticks =
      Self.ticks(of: own, 4) + Self.children(of: own).reduce(0) { $0 + Self.ticks(of: $1, 2) }
    return .milliseconds(ticks * 1_000 / sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The sum of `count` fields from `utime`: of the process, and of its children that have ended.
  private static func ticks(of process: Int32, _ count: Int) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let name = text.lastIndex(of: ")")
    else { return 0 }
    // The state is the first field after the name, and the third of all.
    let fields = text[text.index(after: name)...].split(separator: " ")
    return fields.dropFirst(11).prefix(count).reduce(0) { $0 + (Int($1) ?? 0) }
  }

  private static func children(of parent: Int32) -> [Int32] {
    let tasks = "/proc/\(parent)/task/\(parent)/children"
    guard let text = try? String(contentsOfFile: tasks, encoding: .utf8) else { return [] }
    return text.split(separator: " ").compactMap { Int32($0) }
  }

  /// Ends the server when the test process exits, so that it removes its shared memory.
  private func endNow() {
    guard let process = postmaster.withLock({ $0 })?.process else { return }
    signalAll(SIGCONT)
    process.send(SIGQUIT)
    // At most 5 seconds.
    for _ in 0..<500 where process.status == nil { usleep(10_000) }
  }

  deinit { endNow() }

  private static let setpriv = URL(fileURLWithPath: "/usr/bin/setpriv")

  /// The arguments of `setpriv` that run a program of PostgreSQL as a user that PostgreSQL accepts.
  private static func asServer(_ program: String) -> [String] {
    let user =
      geteuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--init-groups"] : []
    // A change of the user clears the signal, so it is set again.
    return user + ["--pdeathsig", "KILL", "--", programs.appendingPathComponent(program).path]
  }

  /// The programs of the newest installed version.
  private static let programs: URL = {
    let versions = URL(fileURLWithPath: "/usr/lib/postgresql")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: versions.path)) ?? []
    let newest = names.compactMap { Int($0) }.max().map(String.init) ?? "15"
    return versions.appendingPathComponent(newest).appendingPathComponent("bin")
  }()

  private static func giveToServer(_ folder: URL) throws {
    guard geteuid() == 0 else { return }
    guard let user = getpwnam("postgres"),
      chown(folder.path, user.pointee.pw_uid, user.pointee.pw_gid) == 0
    else { throw Failure(description: "install postgresql: there is no user postgres") }
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}

extension Logger {
  /// A logger without output.
  static var silent: Logger { Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() } }
}
