import Dispatch
import Foundation
import Synchronization

/// Apple's notification centre, on Linux: what an app tells the person goes to the
/// `UserNotificationSink` that the program installs.
///
/// Without a sink nobody can be told anything: the status is `.denied`, `add` fails with
/// `.notificationsNotAllowed`.
public final class UNUserNotificationCenter: Sendable {
  struct State {
    var sink: (any UserNotificationSink)?
    var delegate: Handoff<WeakDelegate>?
    var pending: [UserNotice] = []
    var delivered: [DeliveredNotice] = []
  }

  private static let shared = UNUserNotificationCenter()

  let state = Mutex(State())

  /// A centre of its own, for a program with several phones.
  package init() {}

  /// The centre of this process.
  public class func current() -> UNUserNotificationCenter { shared }

  /// Says who tells the person.
  public func install(_ sink: any UserNotificationSink) {
    state.withLock { $0.sink = sink }
  }

  /// Who decides about notifications while the app is in front, and learns what the person does.
  /// Held weakly; called on the main queue.
  public var delegate: (any UNUserNotificationCenterDelegate)? {
    get { state.withLock(\.delegate)?.value.delegate }
    set {
      let delegate = newValue.map { Handoff(WeakDelegate($0)) }
      state.withLock { $0.delegate = delegate }
    }
  }

  var sink: (any UserNotificationSink)? { state.withLock(\.sink) }
}
