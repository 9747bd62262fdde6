import Foundation
import Logging
import Simulation

/// The story of both walks: near and diagnosed sit together for half an hour, diagnosed turns out to be
/// ill, and near is told. Far never was in reach, and is not.
///
/// Every step asks the real framework, app and servers and checks what they did; nothing in them knows
/// of the story. A step that does not hold ends it.
public struct BeaconToNotice {
  private let seed: UInt64
  private let folder: URL
  private let logger: Logger
  private let onStep: (StoryStep) -> Void

  /// The story with this seed; phones and servers keep their data below `folder`, and `onStep` hears of
  /// each step as it ends.
  public init(
    seed: UInt64, folder: URL, logger: Logger, onStep: @escaping (StoryStep) -> Void
  ) {
    self.seed = seed
    self.folder = folder
    self.logger = logger
    self.onStep = onStep
  }

  /// Lets it happen.
  public func tell() async -> StoryResult {
    let start = StoryClock.day(1, 7)
    let town = SimulatedTown(start: start, seed: seed, logger: logger)
    let teller = StoryTeller(
      clock: town.clock,
      timeline: Timeline(
        start: StoryClock.day(1, 6), end: StoryClock.day(2, 12),
        lanes: StoryLane.allCases.map(\.lane)),
      onStep: onStep)
    do {
      let cast = try await opening(of: town, teller)
      await play(StoryScenes(town: town, cast: cast, teller: teller))
      await cast.leave()
    } catch {
      // The opening has been told as a step that did not hold.
    }
    return teller.result
  }

  private func opening(of town: SimulatedTown, _ teller: StoryTeller) async throws -> Cast {
    try await teller.step(
      "servers", "The health authority opens its two servers.",
      on: [.verificationServer, .keyServer]
    ) { facts in
      let cast = try await Cast(town: town, folder: folder)
      facts.append("Verification server: \(await cast.authority.verificationURL)")
      facts.append("Key server: \(await cast.authority.keyServerURL)")
      return cast
    }
  }

  private func play(_ scenes: StoryScenes) async {
    do {
      try await scenes.phonesComeToLife()
      try await scenes.firstChecks()
      try await scenes.meeting()
      try await scenes.midnight()
      let code = try await scenes.officialIssuesCode()
      try await scenes.upload(code)
      try await scenes.codeIsUsedUp(code)
      try await scenes.embargo()
      let file = try await scenes.export()
      try await scenes.backgroundChecks()
      try await scenes.notices()
      try await scenes.cleanedUp(after: file)
      try await scenes.nothingReadable(file: file, code: code)
      await scenes.askPhones()
    } catch {
      // The step that did not hold has been told; the story ends there.
      await scenes.askPhones()
    }
  }
}
