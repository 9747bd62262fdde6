// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Hummingbird
import Logging
import QuietHTTP
import ServiceLifecycle
import Simulation
import WebPages
import World

/// A class: a lesson and the web server with its pages, for browsers in the same network.
package final class ClassroomService: Service, Sendable {
  private let configuration: ClassroomConfiguration
  private let files: InstalledFiles
  private let secret: WebSecret
  private let authority: SimulatedHealthAuthority
  private let world: SimulatedWorld
  private let clock: any WallClock
  private let randomness: any Randomness
  private let logger: Logger
  private let bound = BoundPort()

  /// Creates a class that begins when it is run.
  ///
  /// - Parameters:
  ///   - clock: The real time, for the pace of the lesson and the heartbeats of its streams.
  ///   - randomness: The source of the secrets of teacher and pupils. The lesson draws from its seed.
  /// - Throws: `PageServerError.missingFile`, or the servers' errors if the folder cannot be used.
  package init(
    _ configuration: ClassroomConfiguration, clock: any WallClock, randomness: any Randomness,
    logger: Logger
  ) throws {
    self.configuration = configuration
    self.clock = clock
    self.randomness = randomness
    self.logger = logger
    files = try InstalledFiles(
      ["class.css", "class.js", "print.js"], in: "WebFiles", of: "Classroom",
      shared: [.pointerGuard])
    if let missing = ClassText.missingCatalogue { throw PageServerError.missingFile(missing) }
    secret = WebSecret(randomness: randomness, cookieName: "class-teacher")
    world = SimulatedWorld(
      start: Lesson.start, seed: configuration.seed, recordsBeacons: false, logger: logger)
    authority = try SimulatedHealthAuthority(
      folder: configuration.folder.appendingPathComponent("health-authority"), clock: world.clock,
      randomness: world.randomness, deviceCheck: nil, minimumKeys: Self.minimumKeys,
      codeLifetime: ClassLimit.codeLifetimeSeconds, logger: logger)
  }

  /// The keys of each file, with padding. Fewer than in production, so that many phones check quickly.
  private static let minimumKeys = 100

  /// The port of the pages, once the server listens; 0 if it ended before.
  package var boundPort: Int {
    get async { await bound.value }
  }

  /// The address that pupils open, once the server listens.
  package var joinAddress: String {
    get async { await addresses.join }
  }

  /// The address that the teacher opens, with the secret; print it once.
  package var teacherAddress: String {
    get async { "\(await addresses.join)teacher?secret=\(secret.hex)" }
  }

  private var addresses: ClassAddresses {
    get async { ClassAddresses(hosts: configuration.hosts, port: await bound.value) }
  }

  /// Serves until a graceful shutdown or cancellation.
  ///
  /// - Throws: `PageServerError` if the port or the address is not available.
  package func run() async throws {
    let network = HTTPNetwork(ownMachineTimeoutSeconds: NetworkLimit.ownMachineTimeoutSeconds)
    let result: Result<Void, any Error>
    do {
      result = .success(try await serve(over: network))
    } catch {
      result = .failure(error)
    }
    await bound.settle(0)
    await network.shutdown()
    try result.get()
  }

  private func serve(over network: HTTPNetwork) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await self.authority.run() }
      let lesson = await Lesson(
        world: world, authority: authority, network: network, folder: configuration.folder,
        rules: configuration.rules, phonesMax: configuration.phonesMax,
        hoursMax: configuration.hoursMax, clock: clock,
        randomness: randomness)
      let server = server(of: lesson)
      group.addTask {
        try await PageServerError.run(
          at: self.configuration.host, port: self.configuration.port
        ) { try await server.run() }
      }
      group.addTask { await cancelWhenGracefulShutdown { await lesson.runClock() } }
      group.addTask {
        await cancelWhenGracefulShutdown { await lesson.feed.beat(clock: self.clock) }
      }
      await bound.settle(await server.boundPort)
      try await group.next()
    }
  }

  private func server(of lesson: Lesson) -> QuietServer {
    let router = Router(context: QuietContext.self)
    router.add(
      middleware: ClassRoutes(
        lesson: lesson, files: files, secret: secret, hosts: configuration.hosts))
    var limits = ConnectionLimits()
    // Browsers of one school may share an address.
    limits.connectionsPerAddressMax = limits.connectionsMax
    // The HTTP library logs an error for each stream that ends with the server.
    var logger = logger
    logger.logLevel = .critical
    return QuietServer(
      router: router, host: configuration.host, port: configuration.port, limits: limits,
      logger: logger)
  }
}

/// The settings of a class.
package struct ClassroomConfiguration: Sendable {
  /// The folder for the data of phones and servers.
  package var folder: URL
  /// The address to listen on; all addresses of this machine by default.
  package var host = "0.0.0.0"
  /// The port, or 0 for any free port.
  package var port: Int
  /// The seed of places, infections, phones and servers.
  package var seed: UInt64
  /// The names by which browsers reach this machine, best first.
  package var hosts: [String]
  /// The number of phones of a full class.
  package var phonesMax = ClassLimit.phonesMax
  var rules = OutbreakRules()
  /// The simulated hours of a lesson.
  var hoursMax = ClassLimit.hoursMax

  package init(
    folder: URL, port: Int, seed: UInt64, hosts: [String] = ClassAddresses.hostsOfThisMachine
  ) {
    self.folder = folder
    self.port = port
    self.seed = seed
    self.hosts = hosts
  }
}
