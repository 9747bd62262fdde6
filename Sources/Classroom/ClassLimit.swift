// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The limits of a class.
package enum ClassLimit {
  /// The fewest phones of a class: one person alone has no contacts.
  package static let phonesMin = 2
  /// Phones in a class.
  package static let phonesMax = 400
  /// Simulated hours of a lesson: three weeks, longer than phones keep what they received.
  package static let hoursMax = 21 * 24
  /// Event streams of one browser session. A further stream ends the oldest.
  package static let streamsPerPhoneMax = 4
  /// Streams of events of the teacher's pages.
  package static let teacherStreamsMax = 8
  /// The longest body of a request, in bytes.
  package static let bodyBytesMax = 1_024
  /// The lifetime of a PIN, in simulated seconds: a lesson's clock moves in hours.
  package static let codeLifetimeSeconds: TimeInterval = 86_400
  /// Seconds of real time for each simulated hour of an automatic clock.
  package static let secondsPerHour: TimeInterval = 3
  /// Seconds for which a browser may be closed and keeps its phone.
  package static let sessionSeconds = 12 * 3_600
  /// Seconds between two heartbeats in a stream of events.
  package static let heartbeatSeconds: TimeInterval = 15
}
