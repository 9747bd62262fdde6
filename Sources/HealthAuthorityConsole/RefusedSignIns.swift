// SPDX-License-Identifier: Apache-2.0
import World

/// Records refused sign-ins in the audit log with their account and network, in a bounded number of entries, so that a
/// flood of them neither fills the disk nor hides other entries.
///
/// The first refusal of an account from a network in a window has an entry at once. Further ones are counted, and have
/// one entry with their number at the end of the window. An account has so many networks in a window, and all accounts
/// together so many; what is above is counted by account only.
actor RefusedSignIns {
  private let audit: AuditLog
  private var counts: [Refusal: Int] = [:]
  private var begin: Int64 = 0

  /// A refusal as it is recorded.
  struct Refusal: Hashable, Sendable {
    let action: AuditAction
    /// The name of the account; empty if the typed name has none. It may be a password in the wrong field.
    var account: String
    /// The network that the request came from.
    var network: String
    var isPasskey = false

    fileprivate static let otherNetworks = "other networks"

    fileprivate func event(_ count: Int? = nil) -> AuditEvent {
      let number = count.map { "\($0) more" }
      let parts = [number, isPasskey ? "passkey" : nil, "from \(network)"].compactMap(\.self)
      return AuditEvent("", action, account, detail: parts.joined(separator: ", "))
    }
  }

  init(audit: AuditLog) {
    self.audit = audit
  }

  /// Records or counts a refusal.
  func record(_ refusal: Refusal) async throws {
    if isWindowOver { try await report() }
    if counts.isEmpty { begin = audit.clock.now.unixSecond }
    let refusal = bounded(refusal)
    if let count = counts[refusal] {
      counts[refusal] = count + 1
      return
    }
    // Further ones during the write are counted.
    counts[refusal] = 0
    do { try await audit.append(refusal.event()) } catch {
      counts[refusal, default: 0] += 1
      throw error
    }
  }

  /// True if refusals were counted in a window that has ended, or begins in the future after a clock change.
  var isWindowOver: Bool {
    let age = audit.clock.now.unixSecond - begin
    return !counts.isEmpty && !(0..<Int64(ConsoleLimit.signInWindowSeconds)).contains(age)
  }

  /// Records the counted refusals and begins a new window.
  func report() async throws {
    let counted = counts
    counts = [:]
    let events = counted.filter { $0.value > 0 }.map { $0.key.event($0.value) }
      .sorted { ($0.subject, $0.detail) < ($1.subject, $1.detail) }
    guard !events.isEmpty else { return }
    let now = audit.clock.now.unixSecond
    do {
      try await audit.database.write { [audit] db in
        for event in events { try audit.append(event, at: now, in: db) }
      }
    } catch {
      // Recorded at the next attempt.
      for (refusal, count) in counted where count > 0 {
        counts[bounded(refusal), default: 0] += count
      }
      throw error
    }
  }

  /// The refusal, or the one that it is counted with.
  private func bounded(_ refusal: Refusal) -> Refusal {
    var bounded = refusal
    guard counts[bounded] == nil else { return bounded }
    let networks = Set(counts.keys.filter { $0.account == refusal.account }.map(\.network))
    let hasManyNetworks =
      networks.count >= ConsoleLimit.refusedNetworksMax && !networks.contains(refusal.network)
    if hasManyNetworks || counts.count >= ConsoleLimit.refusalsMax {
      bounded.network = Refusal.otherNetworks
    }
    return bounded
  }
}
