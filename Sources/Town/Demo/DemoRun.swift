import Foundation
import Logging
import Simulation

/// The demo: the phones near and diagnosed are together for half an hour, diagnosed tests positive, and
/// near shows a notice. The phone far is out of range and shows none.
///
/// Every step uses the real framework, app and servers and checks the result. The demo ends with the first
/// step that fails.
public struct DemoRun {
  private let seed: UInt64
  private let folder: URL
  private let logger: Logger
  private let onStep: (DemoStep) -> Void

  /// Creates a demo; phones and servers store their data below `folder`, and `onStep` is called after each
  /// step.
  public init(
    seed: UInt64, folder: URL, logger: Logger, onStep: @escaping (DemoStep) -> Void
  ) {
    self.seed = seed
    self.folder = folder
    self.logger = logger
    self.onStep = onStep
  }

  /// Runs all steps.
  public func run() async -> DemoResult {
    let start = DemoClock.day(1, 7)
    let world = SimulatedWorld(start: start, seed: seed, logger: logger)
    let recorder = DemoRecorder(
      clock: world.clock,
      timeline: Timeline(lanes: DemoLane.allCases.map(\.lane)),
      onStep: onStep)
    do {
      let participants = try await startServers(of: world, recorder)
      await performSteps(DemoSteps(world: world, participants: participants, recorder: recorder))
      await participants.stop()
    } catch {
      // The failed step is recorded.
    }
    return recorder.result
  }

  private func startServers(of world: SimulatedWorld, _ recorder: DemoRecorder) async throws
    -> DemoParticipants
  {
    try await recorder.step(
      "servers", "The health authority starts its two servers.",
      on: [.verificationServer, .keyServer]
    ) { facts in
      let participants = try await DemoParticipants(world: world, folder: folder)
      facts.append("Verification server: \(await participants.authority.verificationURL)")
      facts.append("Key server: \(await participants.authority.keyServerURL)")
      return participants
    }
  }

  private func performSteps(_ steps: DemoSteps) async {
    do {
      try await steps.onboardPhones()
      try await steps.firstChecks()
      try await steps.meeting()
      try await steps.midnight()
      let code = try await steps.issueCode()
      try await steps.upload(code)
      try await steps.codeIsUsedUp(code)
      try await steps.embargo()
      let file = try await steps.export()
      try await steps.backgroundChecks()
      try await steps.notices()
      try await steps.cleanedUp(after: file)
      let keys = try await steps.checkEncryption(code: code)
      try await steps.knowledge(code: code, keys: keys)
      await steps.recordPhoneResults()
    } catch {
      // The failed step is recorded; later steps are skipped.
      await steps.recordPhoneResults()
    }
  }
}

/// The reason why a step failed.
struct DemoFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Throws unless `condition` is true.
  static func unless(_ condition: Bool, _ description: @autoclosure () -> String) throws {
    guard condition else { throw DemoFailure(description()) }
  }
}

/// A step failed and is recorded; the demo ends.
struct DemoStopped: Error {}
