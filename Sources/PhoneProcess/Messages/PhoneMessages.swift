import ExposureApp
import Foundation

/// The messages of the last fourteen days, newest first, as a user interface shows them. The property names are the JSON
/// keys, and absent values are `null`.
package struct PhoneMessages: Encodable, Hashable, Sendable {
  package let messages: [Message]
  package let beacons: [Beacons]

  /// A request and its response.
  package struct Message: Encodable, Hashable, Sendable {
    package let id: String
    /// Unix seconds.
    package let time: Int
    package let kind: String
    package let receiver: String
    /// The host and port of the server.
    package let host: String
    /// The bytes of the request's body.
    package let sent: Int
    /// The bytes of the response's body.
    package let received: Int
    /// The HTTP status; `nil` without a response.
    @Nullable package var status: Int?
    /// The name of the `NetworkFailure`; `nil` with a response.
    @Nullable package var failure: String?

    init(_ row: MessageRecord.Row) {
      (id, time) = (row.id.uuidString, row.time.unixSeconds)
      (kind, receiver, host) = (row.kind.rawValue, row.receiver.rawValue, row.host)
      (sent, received) = (row.sent, row.received)
      (status, failure) = (row.status, row.failure?.rawValue)
    }
  }

  /// The beacons of one day.
  package struct Beacons: Encodable, Hashable, Sendable {
    /// `YYYY-MM-DD`.
    package let date: String
    /// The number of sent identifiers.
    package let sent: Int
    /// The number of received beacons.
    package let received: Int
  }

  /// Joins the rows and counts of a record with the received beacons by day.
  static func all(in record: MessageRecord, received: [Date: Int]) async -> PhoneMessages {
    let sent = await record.sentBeacons
    let received = Dictionary(
      received.map { ($0.key.dayText, $0.value) }, uniquingKeysWith: { $0 + $1 })
    let days = Set(sent.keys).union(received.keys).sorted(by: >)
    return PhoneMessages(
      messages: await record.rows.map(Message.init),
      beacons: days.map { Beacons(date: $0, sent: sent[$0] ?? 0, received: received[$0] ?? 0) })
  }
}
