import Foundation
import Synchronization

/// How things stand now, readable at once from any queue, because Apple's properties are.
final class Standing: Sendable {
  private struct State {
    var permission: Permission
    var isPoweredOn = false
    var observers: [UUID: @Sendable () -> Void] = [:]
  }

  private let state: Mutex<State>

  init(permission: Permission) {
    state = Mutex(State(permission: permission))
  }

  var permission: Permission { state.withLock { $0.permission } }

  /// Restricted before unauthorized before disabled before bluetoothOff before active.
  var status: ENStatus {
    let (permission, isPoweredOn) = state.withLock { ($0.permission, $0.isPoweredOn) }
    switch permission.authorization {
    case .restricted: return .restricted
    case .notAuthorized: return .unauthorized
    case .unknown: return .disabled
    case .authorized: break
    }
    guard permission.isEnabled else { return .disabled }
    return isPoweredOn ? .active : .bluetoothOff
  }

  func set(_ permission: Permission) {
    change { $0.permission = permission }
  }

  func setPoweredOn(_ isPoweredOn: Bool) {
    change { $0.isPoweredOn = isPoweredOn }
  }

  /// Calls `observer` after each change, until `stopObserving` with the answer.
  func observe(_ observer: @escaping @Sendable () -> Void) -> UUID {
    let id = UUID()
    state.withLock { $0.observers[id] = observer }
    return id
  }

  func stopObserving(_ id: UUID) {
    state.withLock { $0.observers[id] = nil }
  }

  private func change(_ change: (inout State) -> Void) {
    let observers = state.withLock { state -> [@Sendable () -> Void] in
      let before = (state.permission, state.isPoweredOn)
      change(&state)
      return before == (state.permission, state.isPoweredOn) ? [] : Array(state.observers.values)
    }
    for observer in observers { observer() }
  }
}
