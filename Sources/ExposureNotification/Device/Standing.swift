import Synchronization

/// How things stand now, readable at once from any queue, because Apple's properties are.
final class Standing: Sendable {
  private struct State: Equatable {
    var permission: Permission
    var isPoweredOn = false
  }

  /// Told after each change.
  let changes = Changes()
  private let state: Mutex<State>

  init(permission: Permission) {
    state = Mutex(State(permission: permission))
  }

  var permission: Permission { state.withLock { $0.permission } }

  /// Restricted before unauthorized before disabled before bluetoothOff before active.
  var status: ENStatus {
    let state = state.withLock { $0 }
    switch state.permission.authorization {
    case .restricted: return .restricted
    case .notAuthorized: return .unauthorized
    case .unknown: return .disabled
    case .authorized: break
    }
    guard state.permission.isEnabled else { return .disabled }
    return state.isPoweredOn ? .active : .bluetoothOff
  }

  func set(_ permission: Permission) {
    change { $0.permission = permission }
  }

  func setPoweredOn(_ isPoweredOn: Bool) {
    change { $0.isPoweredOn = isPoweredOn }
  }

  private func change(_ change: (inout State) -> Void) {
    let hasChanged = state.withLock { state in
      let before = state
      change(&state)
      return state != before
    }
    if hasChanged { changes.tell() }
  }
}
