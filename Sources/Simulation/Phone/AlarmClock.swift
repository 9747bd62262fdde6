import ExposureApp
import Synchronization

/// What one phone's app has asked its system to wake it for.
public final class AlarmClock: BackgroundScheduler {
  private let requests = Mutex<[String: BackgroundRequest]>([:])

  /// A system that has been asked for nothing yet.
  public init() {}

  public func schedule(_ request: BackgroundRequest) throws {
    requests.withLock { $0[request.identifier] = request }
  }

  /// Takes the request that waits, where there is one: the system wakes the app once for it.
  public func takeRequest() -> BackgroundRequest? {
    requests.withLock { requests in
      guard let next = requests.values.min(by: { $0.earliest < $1.earliest }) else { return nil }
      return requests.removeValue(forKey: next.identifier)
    }
  }

  /// Whether a request waits.
  public var hasRequest: Bool { requests.withLock { !$0.isEmpty } }
}
