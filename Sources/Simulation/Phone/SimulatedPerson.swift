import ExposureNotification
import Synchronization

/// The owner of a simulated phone, who answers when the system asks.
public final class SimulatedPerson: ConsentPrompt {
  private struct State {
    var agrees = true
    var asked: [ConsentRequest] = []
  }

  private let state = Mutex(State())

  /// Somebody who agrees to what is asked, until they change their mind.
  public init() {}

  /// Everything this person was asked, in order.
  public var asked: [ConsentRequest] { state.withLock { $0.asked } }

  /// Agrees or refuses from now on.
  public func agree(_ agrees: Bool) {
    state.withLock { $0.agrees = agrees }
  }

  public func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool {
    state.withLock { state in
      state.asked.append(request)
      return state.agrees
    }
  }
}
