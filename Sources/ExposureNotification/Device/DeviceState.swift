// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import Synchronization

/// The current consent and radio state, readable from any queue, because Apple's properties are.
final class DeviceState: Sendable {
  private struct State: Equatable {
    var consent = Consent()
    /// The reason why the stored consent is not known.
    var failure: SealedStorageError?
    var isPoweredOn = false
  }

  let changes = ChangeObservers()
  private let state = Mutex(State())

  var consent: Consent { state.withLock { $0.consent } }

  /// The reason why the stored consent could not be read. Then the device is neither on nor off.
  var failure: SealedStorageError? { state.withLock { $0.failure } }

  /// Unknown if the consent could not be read; else the first that applies of restricted, unauthorized,
  /// disabled, bluetoothOff and active.
  var status: ENStatus {
    let state = state.withLock { $0 }
    guard state.failure == nil else { return .unknown }
    switch state.consent.authorization {
    case .restricted: return .restricted
    case .notAuthorized: return .unauthorized
    case .unknown: return .disabled
    case .authorized: break
    }
    guard state.consent.isEnabled else { return .disabled }
    return state.isPoweredOn ? .active : .bluetoothOff
  }

  func set(_ consent: Consent) {
    change { ($0.consent, $0.failure) = (consent, nil) }
  }

  func setFailure(_ failure: SealedStorageError) {
    change { $0.failure = failure }
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
    if hasChanged { changes.notify() }
  }
}

/// Closures that are called after each change.
final class ChangeObservers: Sendable {
  private let observers = Mutex<[UUID: @Sendable () -> Void]>([:])

  func add(_ observer: @escaping @Sendable () -> Void) -> UUID {
    let id = UUID()
    observers.withLock { $0[id] = observer }
    return id
  }

  func remove(_ id: UUID) {
    observers.withLock { $0[id] = nil }
  }

  func notify() {
    for observer in observers.withLock({ Array($0.values) }) { observer() }
  }
}

/// The managers' listeners for the reasons for which the system wakes the app.
///
/// Flags without a listener are pending until the first one is added, because the system wakes an
/// app before the app has activated its manager.
final class ActivityListeners: Sendable {
  private struct State {
    var listeners: [UUID: @Sendable (ENActivityFlags) -> Void] = [:]
    var pending: ENActivityFlags = []
  }

  private let state = Mutex(State())

  /// Calls `listener` with the pending flags and with all later ones, until `remove`.
  func add(_ listener: @escaping @Sendable (ENActivityFlags) -> Void) -> UUID {
    let id = UUID()
    let pending = state.withLock { state in
      defer { state.pending = [] }
      state.listeners[id] = listener
      return state.pending
    }
    if !pending.isEmpty { listener(pending) }
    return id
  }

  func remove(_ id: UUID) {
    state.withLock { $0.listeners[id] = nil }
  }

  func notify(_ flags: ENActivityFlags) {
    let listeners = state.withLock { state in
      if state.listeners.isEmpty { state.pending.formUnion(flags) }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener(flags) }
  }
}
