import Foundation
import Synchronization

/// Apple's token of an observation, which Foundation lacks on Linux: observing ends with it.
public final class NSKeyValueObservation: NSObject, Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  init(end: @escaping @Sendable () -> Void) {
    self.end = Mutex(end)
  }

  deinit {
    invalidate()
  }

  /// Ends the observation. Once is enough.
  public func invalidate() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}
