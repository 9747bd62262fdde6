// SPDX-License-Identifier: Apache-2.0
import Foundation
import UnixSockets
import World

/// Tells systemd the state of the servers (`sd_notify`): when they are ready, reload and stop, and that they live.
///
/// Without a socket in the environment it does nothing.
struct ServiceNotifier: Sendable {
  private let address: UnixAddress?
  /// The interval of the signs of life; nil if systemd expects none.
  private let watchdogSeconds: TimeInterval?

  /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
  init(environment: [String: String], processIdentifier: Int32) {
    address = environment["NOTIFY_SOCKET"].flatMap { name in
      if name.hasPrefix("@") { return .abstract(Array(name.utf8.dropFirst())) }
      return name.hasPrefix("/") ? .file(name) : nil
    }
    let isForUs = environment["WATCHDOG_PID"].map { $0 == "\(processIdentifier)" } ?? true
    // Twice in the time after which systemd kills the process.
    watchdogSeconds = environment["WATCHDOG_USEC"].flatMap { TimeInterval($0) }
      .flatMap { isForUs && $0 > 0 ? $0 / 2_000_000 : nil }
  }

  func ready() { send("READY=1\nSTATUS=The servers listen.") }

  /// The reload failed, and the servers go on: `systemctl status` shows it.
  func notReloaded() {
    send("READY=1\nSTATUS=The servers listen. The settings were not reloaded: the log says why.")
  }

  func reloading() {
    // Units of the type notify-reload need the time.
    let time = SystemClock.monotonicMicroseconds
    send("RELOADING=1\nMONOTONIC_USEC=\(time)\nSTATUS=The settings are read again.")
  }

  func stopping() { send("STOPPING=1\nSTATUS=Requests in progress are finished.") }

  /// Tells that the servers are ready, and sends signs of life until the task is cancelled. If no task of the process
  /// runs any more, they end.
  func begin(_ clock: any WallClock) -> Task<Void, Never> {
    ready()
    return Task { await watch(clock) }
  }

  private func watch(_ clock: any WallClock) async {
    guard address != nil, let watchdogSeconds else { return }
    repeat { send("WATCHDOG=1") } while await clock.sleepUnlessCancelled(for: watchdogSeconds)
  }

  private func send(_ text: String) {
    guard let address else { return }
    // The servers go on without the service that watches them.
    try? UnixDatagram.send(text.utf8, to: address)
  }
}
