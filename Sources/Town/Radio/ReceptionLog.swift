// SPDX-License-Identifier: Apache-2.0
import Foundation
import Simulation
import Synchronization

/// The receptions of all controllers of a town since its start, for its page.
package final class ReceptionLog: Sendable {
  /// The beacons that a phone received from another one.
  struct Contact: Hashable, Sendable {
    let receiver: String
    let sender: String
    /// The advertisements that were received.
    var count = 0
    /// Their payloads together, in bytes.
    var bytes = 0
    /// The time of the last one.
    var last: Date
  }

  private struct State {
    var contacts: [String: Contact] = [:]
    var receivingScans: [String: Int] = [:]
  }

  private let state = Mutex(State())
  private let now: @Sendable () -> Date

  /// Creates an empty log.
  ///
  /// - Parameter now: The time of contacts.
  package init(now: @escaping @Sendable () -> Date) {
    self.now = now
  }

  /// The number of scans in which each phone received another one.
  package var receivingScans: [String: Int] { state.withLock { $0.receivingScans } }

  /// The beacons that each phone received from each other one.
  var contacts: [Contact] { state.withLock { Array($0.contacts.values) } }

  /// Adds the receptions of a scan.
  func note(_ receptions: [SimulatedAir<ControllerBeacon>.Reception], by receiver: String) {
    guard !receptions.isEmpty else { return }
    let now = now()
    state.withLock { state in
      state.receivingScans[receiver, default: 0] += 1
      for reception in receptions {
        let sender = reception.sender
        let new = Contact(receiver: receiver, sender: sender, last: now)
        var contact = state.contacts["\(sender)-\(receiver)"] ?? new
        contact.count += 1
        contact.bytes += reception.beacon.payload.count
        contact.last = now
        state.contacts["\(sender)-\(receiver)"] = contact
      }
    }
  }
}
