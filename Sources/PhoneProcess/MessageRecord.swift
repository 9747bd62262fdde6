// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import Synchronization
import TextEncodings
import World

/// A record of the requests that left the phone, and of the number of sent beacons, for its owner.
///
/// It contains sizes, receivers and times, and never a PIN, a token, a key or other content. Requests with a body are
/// stored before they are sent; the others are stored in batches, at the latest when a check ends.
package actor MessageRecord {
  /// The kind of a request.
  package enum RequestKind: String, Codable, Sendable {
    /// The list of key files.
    case index
    case keyFile
    case deviceConfiguration
    case remoteConfiguration
    /// A PIN is exchanged for a token.
    case code
    /// Keys are uploaded.
    case upload
    /// A request without content, which looks like `code` or `upload` from outside.
    case decoy
    /// A document of statistics.
    case statistics
  }

  /// The role of the server that received a request.
  package enum Receiver: String, Codable, Sendable {
    case keyServer, verificationServer, statistics
  }

  /// One request and its response. The property names are the JSON keys on disk and for the owner.
  package struct Exchange: Codable, Hashable, Sendable {
    package let id: UUID
    package let time: Date
    package let kind: RequestKind
    package let receiver: Receiver
    /// The host and port of the server.
    package let host: String
    /// The bytes of the request's body; 0 if the server was not reached.
    package var sent: Int
    /// The bytes of the response's body.
    package var received = 0
    /// The HTTP status; `nil` without a response.
    @Nullable package var status: Int? = nil
    /// The reason why there is no response.
    @Nullable package var failure: NetworkFailure? = nil
  }

  private struct RecordContent: Codable {
    var rows: [Exchange] = []
    /// The number of sent beacons by day, `YYYY-MM-DD`.
    var beacons: [String: Int] = [:]
  }

  private let file: SealedFile
  private let clock: any WallClock
  private let retention: PhoneRetention
  private let logger: Logger
  private var content: RecordContent
  private var unwritten = 0
  private var isClosed = false

  /// The record in `folder`. A damaged file counts as missing, and the next write replaces it.
  package init(
    in folder: PhoneFolder, key: SealingKey, clock: any WallClock,
    retention: PhoneRetention, randomness: any Randomness, logger: Logger
  ) {
    file = SealedFile(url: folder.messages, key: key, purpose: "messages", randomness: randomness)
    self.clock = clock
    self.retention = retention
    self.logger = logger
    content = file.readableJSON(RecordContent.self) ?? RecordContent()
  }

  /// The requests of the last fourteen days, newest first.
  package var rows: [Exchange] { keptRows.reversed() }

  /// The number of sent beacons of the last fourteen days by day, `YYYY-MM-DD`.
  package var sentBeacons: [String: Int] {
    let times = retention.period(at: clock.now).times
    let days = times.map { time in
      let oldest = time.addingTimeInterval(-RemovalRule.exposureSeconds)
      return oldest.dayText...time.addingTimeInterval(RemovalRule.daySeconds).dayText
    }
    return content.beacons.filter { beacon in
      days.isEmpty || days.contains { $0.contains(beacon.key) }
    }
  }

  private var keptRows: [Exchange] {
    retention.kept(content.rows, by: \.time, at: clock.now)
  }

  /// Adds a request that is about to be sent.
  func begin(_ row: Exchange) {
    content.rows.append(row)
    unwritten += 1
    if row.sent > 0 || unwritten >= MessageLimit.rowsPerWrite { flush() }
  }

  /// Replaces the row of a request after its response or failure.
  func finish(_ row: Exchange) {
    guard let index = content.rows.lastIndex(where: { $0.id == row.id }) else { return }
    let isUrgent = content.rows[index].sent > 0
    content.rows[index] = row
    // The row may be stored already, without its response.
    unwritten = max(unwritten, 1)
    if isUrgent { flush() }
  }

  /// Counts a beacon that the phone has sent now.
  func countBeacon() {
    content.beacons[clock.now.dayText, default: 0] += 1
    unwritten += 1
    flush()
  }

  /// Stores the rows that are only in memory.
  package func flush() {
    guard unwritten > 0, !isClosed else { return }
    content.rows = keptRows.suffix(MessageLimit.rowsMax)
    content.beacons = sentBeacons
    do {
      try file.replace(with: JSONEncoder().encode(content))
      unwritten = 0
    } catch {
      // The rows stay in memory; the next write has them.
      logger.warning("storing the record of messages failed", metadata: ["error": "\(error)"])
    }
  }

  /// Writes nothing from now on: the folder is another one.
  func close() { isClosed = true }

  /// Removes all rows and counts.
  package func removeAll() throws {
    try file.remove()
    content = RecordContent()
    unwritten = 0
  }
}

/// The messages of the last fourteen days, newest first.
package struct PhoneMessages: Encodable, Hashable, Sendable {
  package let messages: [MessageRecord.Exchange]
  package let beacons: [Beacons]

  /// The beacons of one day.
  package struct Beacons: Encodable, Hashable, Sendable {
    /// `YYYY-MM-DD`.
    package let date: String
    /// The number of sent identifiers.
    package let sent: Int
    /// The number of received beacons.
    package let received: Int
  }
}

extension PhoneMessages {
  /// Joins the requests and counts of a record with the received beacons by day.
  init(in record: MessageRecord, received: [Date: Int]) async {
    let sent = await record.sentBeacons
    let received = Dictionary(
      received.map { ($0.key.dayText, $0.value) }, uniquingKeysWith: { $0 + $1 })
    let days = Set(sent.keys).union(received.keys).sorted(by: >)
    self.init(
      messages: await record.rows,
      beacons: days.map { Beacons(date: $0, sent: sent[$0] ?? 0, received: received[$0] ?? 0) })
  }
}

/// Limits of the record of messages.
package enum MessageLimit {
  /// The number of stored rows; the oldest are removed first.
  package static let rowsMax = 5_000
  /// The number of downloads that are stored together.
  package static let rowsPerWrite = 100
}

/// A network that records each request of the app.
struct RecordingNetwork: Network {
  private let network: any Network
  private let record: MessageRecord
  private let clock: any WallClock

  /// Records the requests that go through `network`.
  init(_ network: any Network, record: MessageRecord, clock: any WallClock) {
    self.network = network
    self.record = record
    self.clock = clock
  }

  var connection: NetworkConnection {
    get async { await network.connection }
  }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try await recording(request) {
      let response = try await network.send(request)
      return (response, response.body.count)
    }
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    try await recording(request) {
      let response = try await network.download(request, to: file)
      return (response, response.status == 200 ? Self.size(of: file) : 0)
    }
  }

  private func recording(
    _ request: NetworkRequest, _ exchange: () async throws -> (NetworkResponse, received: Int)
  ) async throws -> NetworkResponse {
    var row = MessageRecord.Exchange(request, at: clock.now)
    await record.begin(row)
    do {
      let (response, received) = try await exchange()
      (row.status, row.received) = (response.status, received)
      await record.finish(row)
      return response
    } catch {
      row.failure = error as? NetworkFailure ?? .interrupted
      // Nothing has left the phone.
      if row.failure == .unreachable { row.sent = 0 }
      await record.finish(row)
      throw error
    }
  }

  private static func size(of file: URL) -> Int {
    let attributes = FileManager.default.attributes(of: file)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }
}

extension MessageRecord.Exchange {
  /// A request that is sent at `time`: its kind, its receiver and the size of its body.
  fileprivate init(_ request: NetworkRequest, at time: Date) {
    let path = request.url.path
    let isUpload = path.hasSuffix(KeyServerRoute.upload)
    let isOfStatistics = Statistics.isRequest(request.url)
    let kind: MessageRecord.RequestKind =
      if isOfStatistics {
        .statistics
      } else if request.isDecoy {
        .decoy
      } else if request.body != nil {
        isUpload ? .upload : .code
      } else {
        Self.downloads.first { path.hasSuffix($0.key) }?.value ?? .keyFile
      }
    self.init(
      id: UUID(), time: time, kind: kind,
      // Every request with a body is an upload or goes to the verification server.
      receiver: isOfStatistics
        ? .statistics : request.body == nil || isUpload ? .keyServer : .verificationServer,
      host: request.url.hostAndPort, sent: request.body?.count ?? 0)
  }

  /// The kinds of the documents, by their routes.
  private static let downloads: [String: MessageRecord.RequestKind] = [
    KeyServerRoute.index: .index, KeyServerRoute.deviceConfiguration: .deviceConfiguration,
    KeyServerRoute.remoteConfiguration: .remoteConfiguration,
  ]
}

/// A radio that counts the beacons that a running phone sends.
///
/// A command that opens the storage of a phone which does not run uses no radio, and a radio that is off sends
/// nothing: neither counts.
final class CountingRadio: Radio {
  private let radio: any Radio
  private let record: MessageRecord
  private let isCounting = Mutex(false)

  /// Passes everything on to `radio`.
  init(_ radio: any Radio, record: MessageRecord) {
    self.radio = radio
    self.record = record
  }

  /// Counts from now on: the phone runs.
  func startCounting() { isCounting.withLock { $0 = true } }

  var isPoweredOn: Bool {
    get async { await radio.isPoweredOn }
  }

  func advertise(_ advertisement: Advertisement) async {
    await radio.advertise(advertisement)
    guard isCounting.withLock({ $0 }), await radio.isPoweredOn else { return }
    await record.countBeacon()
  }

  func stopAdvertising() async {
    await radio.stopAdvertising()
  }

  func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {
    await radio.listen(receive)
  }

  func stopListening() async {
    await radio.stopListening()
  }
}
