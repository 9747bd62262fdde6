// SPDX-License-Identifier: Apache-2.0
import Foundation
public import GRDB

extension DatabaseQueue {
  /// A connection for a test, which waits for the transactions of others.
  ///
  /// A server writes at times that a test does not choose, and then `DatabaseQueue(path:)` fails with SQLITE_BUSY.
  public convenience init(
    waitingAt path: String, configuration: Configuration = Configuration()
  ) throws {
    var patient = configuration
    patient.busyMode = .timeout(TimeInterval(Patience.seconds))
    try self.init(path: path, configuration: patient)
  }
}
