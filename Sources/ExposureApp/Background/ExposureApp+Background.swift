import Foundation
import Logging
import World

extension ExposureApp {
  /// The identifier that the system must know the app's background run by.
  public nonisolated var backgroundIdentifier: String {
    configuration.appPackageName + BackgroundRequest.suffix
  }

  /// Does one background check within `run`: always asks for the next one, stops when the system
  /// wants its time back, and reports what really came of it. Documentation/App.md 7.
  @discardableResult
  public func backgroundCheck(_ run: any BackgroundRun) async -> CheckOutcome {
    scheduleNextCheck()
    let work = Task { await check() }
    run.whenTimeIsUp { work.cancel() }
    let outcome = await work.value
    run.complete(success: outcome.isSuccess)
    return outcome
  }

  /// Asks for the next check, whatever came of this one.
  func scheduleNextCheck() {
    let request = BackgroundRequest(
      identifier: backgroundIdentifier,
      earliest: clock.now.addingTimeInterval(BackgroundRule.checkSeconds), needsNetwork: true)
    do {
      try scheduler.schedule(request)
    } catch {
      logger.error("the next check could not be scheduled", metadata: ["why": "\(error)"])
    }
  }

  /// Sends a decoy when its moment has come, and draws the next. What is answered does not matter.
  func sendDecoyIfDue() async {
    let now = clock.now
    let due = store.state.nextDecoy
    // A moment beyond the longest wait was drawn before the clock was set back.
    let latest = now.addingTimeInterval(Double(BackgroundRule.decoySeconds.upperBound))
    guard due.map({ $0 <= now || $0 > latest }) ?? true else { return }
    let wait = Double(randomness.number(in: BackgroundRule.decoySeconds))
    guard (try? store.update { $0.nextDecoy = now.addingTimeInterval(wait) }) != nil, due != nil
    else { return }
    let requests = UploadRequests(configuration: configuration, randomness: randomness)
    for request in (try? requests.decoys()) ?? [] { _ = try? await network.send(request) }
  }
}
