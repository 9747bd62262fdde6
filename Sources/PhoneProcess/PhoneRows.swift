import ExposureApp
import Foundation

// The rows of stored data as a user interface and `export-my-data` show them.
extension PhoneMessages {
  /// Joins the requests and counts of a record with the received beacons by day.
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

extension PhoneMessages.Message {
  fileprivate init(_ row: MessageRecord.Exchange) {
    self.init(
      id: row.id.uuidString, time: row.time.unixSeconds, kind: row.kind.rawValue,
      receiver: row.receiver.rawValue, host: row.host, sent: row.sent, received: row.received,
      status: row.status, failure: row.failure?.rawValue)
  }
}

extension PhoneState.NoticeRow {
  init(_ row: PhoneNotices.Row) {
    self.init(
      id: row.id, kind: row.identifier, time: row.time.unixSeconds, title: row.title,
      body: row.body)
  }
}
