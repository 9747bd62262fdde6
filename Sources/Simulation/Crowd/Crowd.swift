import ExposureApp
import ExposureNotification
import Foundation

/// Many phones in one process: a class or a town. Each has the real framework and the real app.
public struct Crowd: Sendable {
  /// The world that the phones share.
  public let world: SimulatedWorld
  /// The phones, in the order of the people of `itinerary`.
  public private(set) var phones: [SimulatedPhone] = []
  /// The places of the people.
  public private(set) var itinerary: Itinerary
  private let folder: URL
  private let configuration: AppConfiguration
  private let region: RegionConfiguration
  private let network: any Network

  /// Creates a phone for each of `names`, which stores its data below `folder`.
  public init(
    names: [String], world: SimulatedWorld, folder: URL, authority: SimulatedHealthAuthority,
    network: any Network
  ) async {
    self.world = world
    self.folder = folder
    self.network = network
    itinerary = Itinerary(people: names, sources: world.randomness)
    configuration = await authority.appConfiguration()
    region = authority.regionConfiguration
    phones = names.map(phone)
  }

  /// Switches exposure notifications on, with the consent of each user.
  ///
  /// - Throws: The error of the first phone that cannot be switched on.
  public func enable() async throws {
    for phone in phones { try await enable(phone) }
  }

  /// Adds a person with a phone that is switched on. The favourite places of all people are drawn again, because a
  /// larger town has more places; homes stay.
  ///
  /// - Throws: If the phone cannot be switched on. Then nothing is added.
  public mutating func add(_ name: String) async throws {
    let new = phone(name)
    try await enable(new)
    phones.append(new)
    itinerary = Itinerary(people: itinerary.people + [name], sources: world.randomness)
  }

  /// Runs all phones until `end`: people change places each hour, and phones check for keys when their apps have
  /// scheduled it.
  ///
  /// - Parameter hourEnded: Called after each hour.
  public func run(until end: Date, hourEnded: (Date) async throws -> Void = { _ in }) async throws {
    while world.clock.now < end {
      let hour = (world.clock.now.timeIntervalSince1970 / 3_600).rounded(.down) + 1
      await meet(until: min(end, Date(timeIntervalSince1970: hour * 3_600)))
      await checkForKeys()
      try await hourEnded(world.clock.now)
    }
  }

  /// The distances of the people that are at the same place, in the present hour.
  ///
  /// - Parameter absent: People who are alone.
  public func distances(without absent: Set<String> = []) -> AirDistances {
    let all = itinerary.distances(at: world.clock.now)
    guard !absent.isEmpty else { return all }
    return all.filter { !absent.contains($0.key) }
      .mapValues { others in others.filter { !absent.contains($0.key) } }
  }

  /// Runs the phones until `end`, which is in the same hour or at its end. People stay at their places.
  ///
  /// - Parameters:
  ///   - off: Phones that are off.
  ///   - absent: People who are alone.
  public func meet(
    until end: Date, off: Set<String> = [], absent: Set<String> = []
  ) async {
    world.air.place(distances(without: absent))
    await world.run(until: end, phones: phones.filter { !off.contains($0.name) })
  }

  /// Runs the background checks that are due, except on the phones `off`.
  public func checkForKeys(off: Set<String> = []) async {
    for phone in phones where !off.contains(phone.name) {
      guard phone.scheduler.takeRequest(dueAt: world.clock.now) != nil else { continue }
      _ = await phone.app.backgroundCheck(SimulatedRun())
    }
  }

  private func phone(_ name: String) -> SimulatedPhone {
    SimulatedPhone(
      name: name, folder: folder.appendingPathComponent("phone-\(name)"), world: world,
      configuration: configuration, region: region,
      deviceCheck: SimulatedAttestation { Data(count: 32) }, network: network)
  }

  private func enable(_ phone: SimulatedPhone) async throws {
    await phone.app.start()
    guard await phone.app.enable() == .enabled else { throw CrowdError.notEnabled(phone.name) }
    try await phone.app.finishOnboarding()
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
