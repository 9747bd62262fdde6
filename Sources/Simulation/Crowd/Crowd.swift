import ExposureApp
import ExposureNotification
import Foundation

/// Many phones in one process: a class or a town. Each has the real framework and the real app.
public struct Crowd: Sendable {
  /// The world that the phones share.
  public let world: SimulatedWorld
  /// The phones, in the order of the people of `itinerary`.
  public let phones: [SimulatedPhone]
  /// The places of the people.
  public let itinerary: Itinerary

  /// Creates a phone for each of `names`, which stores its data below `folder`.
  public init(
    names: [String], world: SimulatedWorld, folder: URL, authority: SimulatedHealthAuthority,
    network: any Network
  ) async {
    self.world = world
    itinerary = Itinerary(people: names, sources: world.randomness)
    let configuration = await authority.appConfiguration()
    let attestation = SimulatedAttestation { Data(count: 32) }
    phones = names.map { name in
      SimulatedPhone(
        name: name, folder: folder.appendingPathComponent("phone-\(name)"), world: world,
        configuration: configuration, region: authority.regionConfiguration,
        deviceCheck: attestation, network: network)
    }
  }

  /// Switches exposure notifications on, with the consent of each user.
  ///
  /// - Throws: The error of the first phone that cannot be switched on.
  public func enable() async throws {
    for phone in phones {
      await phone.app.start()
      let outcome = await phone.app.enable()
      guard outcome == .enabled else { throw CrowdError.notEnabled(phone.name) }
      try await phone.app.finishOnboarding()
    }
  }

  /// Runs all phones until `end`: people change places each hour, and phones check for keys when their apps want to.
  ///
  /// - Parameter hourEnded: Called after each hour.
  public func run(until end: Date, hourEnded: (Date) async throws -> Void = { _ in }) async throws {
    while world.clock.now < end {
      world.air.place(itinerary.distances(at: world.clock.now))
      let hour = (world.clock.now.timeIntervalSince1970 / 3_600).rounded(.down) + 1
      await world.run(until: min(end, Date(timeIntervalSince1970: hour * 3_600)), phones: phones)
      for phone in phones where phone.scheduler.takeRequest(dueAt: world.clock.now) != nil {
        _ = await phone.app.backgroundCheck(SimulatedRun())
      }
      try await hourEnded(world.clock.now)
    }
  }
}

/// An error of a crowd.
public enum CrowdError: Error, CustomStringConvertible {
  /// The phone with this name could not be switched on.
  case notEnabled(String)

  public var description: String {
    switch self {
    case .notEnabled(let name): "The phone of \(name) could not be switched on: check the disk."
    }
  }
}
