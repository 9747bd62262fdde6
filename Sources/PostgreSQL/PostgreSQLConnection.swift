// SPDX-License-Identifier: Apache-2.0
import CPostgreSQL
import Foundation
import Synchronization

/// One connection to a PostgreSQL server, used from one thread at a time.
///
/// Its functions block. Every wait for the server ends at the deadline of the request, after which the connection is
/// unusable: neither keepalives nor `statement_timeout` end a wait for a server whose processes are stopped.
final class PostgreSQLConnection {
  private let handle: OpaquePointer
  let cancellation: PostgreSQLCancellation
  /// The names of prepared statements by their text.
  private var prepared: [String: String] = [:]
  /// The number of names that were used. A name is not used again: the server may know it.
  private var nameCount = 0
  /// False after the connection was lost or a deadline has passed.
  private(set) var isUsable = true
  /// False if the server may be a standby.
  let isOfPrimary: Bool

  /// Connects to the first server of `address` that is reachable and has the required role.
  ///
  /// - Throws: `PostgreSQLError` of kind `unavailable`, after `connect_timeout` for each host.
  init(to address: PostgreSQLAddress, statementSeconds: Int) throws(PostgreSQLError) {
    let parameters = address.connectionParameters(statementSeconds: statementSeconds)
    let connection = Self.withCStrings(parameters.map(\.keyword)) { keywords in
      Self.withCStrings(parameters.map(\.value)) { PQconnectdbParams(keywords, $0, 0) }
    }
    guard let connection, PQstatus(connection) == CONNECTION_OK else {
      let error = PostgreSQLError(.unavailable, of: connection)
      PQfinish(connection)
      throw error
    }
    handle = connection
    isOfPrimary = address.isOfPrimary
    cancellation = PostgreSQLCancellation(connection)
    // libpq would print notices to standard error.
    PQsetNoticeProcessor(connection, { _, _ in }, nil)
    guard PQsetnonblocking(connection, 1) == 0 else {
      isUsable = false
      throw PostgreSQLError(.unavailable, of: connection)
    }
  }

  deinit {
    cancellation.close()
    PQfinish(handle)
  }

  /// The server, for the log.
  var server: String {
    let host = PQhost(handle).map { String(cString: $0) } ?? ""
    let port = PQport(handle).map { String(cString: $0) } ?? ""
    return host.hasPrefix("/") ? host : "\(host):\(port)"
  }

  /// Runs `statements` in one round trip. After a failure the later ones are not run.
  ///
  /// - Returns: The rows of each statement.
  func run(
    _ statements: [PostgreSQLStatement], until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> [PostgreSQLRows] {
    guard PQenterPipelineMode(handle) == 1 else { throw lost() }
    var names: [String?] = []
    for statement in statements { names += try send(statement) }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    let rows = try results(of: names, until: deadline)
    guard PQexitPipelineMode(handle) == 1 else { throw lost() }
    return rows
  }

  /// Sends the preparation of a statement if it is new, and the statement.
  ///
  /// - Returns: For each sent message the text that it prepares, or nil.
  private func send(_ statement: PostgreSQLStatement) throws(PostgreSQLError) -> [String?] {
    if let name = prepared[statement.sql] {
      try send(statement, name: name)
      return [nil]
    }
    guard statement.isReused, prepared.count < PostgreSQLLimit.preparedStatementsMax else {
      try send(statement, name: nil)
      return [nil]
    }
    nameCount += 1
    let name = "s\(nameCount)"
    let types = statement.parameters.map(\.typeID)
    guard PQsendPrepare(handle, name, statement.sql, Int32(types.count), types) == 1 else {
      throw lost()
    }
    prepared[statement.sql] = name
    try send(statement, name: name)
    return [statement.sql, nil]
  }

  /// Sends a prepared statement, or its text if `name` is nil.
  private func send(
    _ statement: PostgreSQLStatement, name: String?
  ) throws(PostgreSQLError) {
    let encoded = statement.parameters.map(\.encoded)
    let lengths = encoded.map { Int32($0?.count ?? 0) }
    let formats = Array(repeating: Int32(1), count: encoded.count)
    let isSent = encoded.flatMap { $0 ?? [] }.withUnsafeBytes { buffer in
      var offset = 0
      let values = encoded.map { bytes -> UnsafePointer<CChar>? in
        guard let bytes else { return nil }
        defer { offset += bytes.count }
        // An empty value needs a pointer too: nil is NULL.
        return buffer.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
          ?? Self.empty
      }
      if let name {
        return PQsendQueryPrepared(
          handle, name, Int32(values.count), values, lengths, formats, 1)
      }
      return PQsendQueryParams(
        handle, statement.sql, Int32(values.count), statement.parameters.map(\.typeID), values,
        lengths, formats, 1)
    }
    guard isSent == 1 else { throw lost() }
  }

  private nonisolated(unsafe) static let empty = UnsafePointer<CChar>(strdup(""))

  /// Reads the results up to the synchronization point.
  private func results(
    of names: [String?], until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> [PostgreSQLRows] {
    var rows: [PostgreSQLRows] = []
    var failure: PostgreSQLError?
    var number = 0
    var failedNumber = 0
    while true {
      try waitForResult(until: deadline)
      guard let result = PQgetResult(handle) else {
        guard PQstatus(handle) == CONNECTION_OK else { throw lost(failure) }
        continue
      }
      switch PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC:
        PQclear(result)
        guard let failure else { return rows }
        // The server skips all statements after a failed one, so none of them is prepared.
        for name in names.dropFirst(failedNumber).compactMap(\.self) { prepared[name] = nil }
        _ = PQexitPipelineMode(handle)
        throw failure
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
        if number < names.count, names[number] == nil {
          rows.append(PostgreSQLRows(result))
        } else {
          PQclear(result)
        }
      default:
        if failure == nil, PQresultStatus(result) != PGRES_PIPELINE_ABORTED {
          failure = PostgreSQLError(result)
          failedNumber = number
        }
        PQclear(result)
      }
      number += 1
    }
  }

  /// Waits until a result has arrived completely, and sends what is buffered meanwhile.
  private func waitForResult(until deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
    while true {
      let isUnsent = PQflush(handle)
      guard isUnsent >= 0 else { throw lost() }
      guard PQisBusy(handle) == 1 || isUnsent == 1 else { return }
      try wait(for: isUnsent == 1 ? POLLIN | POLLOUT : POLLIN, until: deadline)
    }
  }

  /// Waits until the socket is ready, and reads what has arrived.
  private func wait(
    for events: Int32, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) {
    var entry = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
    guard entry.fd >= 0 else { throw lost() }
    while true {
      let left = deadline - .now
      guard left > .zero else {
        isUsable = false
        throw PostgreSQLError(.connectionLost, "no answer within the time for the request")
      }
      // Rounded up, so that the last wait is not repeated with 0.
      let count = poll(&entry, 1, Int32(clamping: left.wholeMilliseconds + 1))
      if count > 0 { break }
      guard count == 0 || errno == EINTR else { throw lost() }
    }
    guard PQconsumeInput(handle) == 1 else { throw lost() }
  }

  /// Marks the connection as unusable.
  ///
  /// - Parameter failure: The failure that the server has reported before, if any.
  private func lost(_ failure: PostgreSQLError? = nil) -> PostgreSQLError {
    isUsable = false
    return failure ?? PostgreSQLError(.connectionLost, of: handle)
  }

  /// Closes the connection at its next use.
  func invalidate() { isUsable = false }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer {
      for copy in copies {
        guard let copy else { continue }
        // One of them may be a password.
        explicit_bzero(copy, strlen(copy))
        free(copy)
      }
    }
    return (copies.map { $0.map { UnsafePointer($0) } } + [nil]).withUnsafeBufferPointer { list in
      // The list has at least its end.
      list.baseAddress.map(body) ?? body([nil])
    }
  }
}

extension PostgreSQLConnection {
  /// Runs `COPY … TO STDOUT (FORMAT binary)` and calls `body` for each row.
  ///
  /// - Throws: `PostgreSQLError`; the error of `body`, after which the connection is unusable.
  func copyOut(
    _ sql: String, until deadline: ContinuousClock.Instant,
    _ body: (inout PostgreSQLCopiedRow) throws -> Void
  ) throws {
    guard PQsendQuery(handle, sql) == 1 else { throw lost() }
    try begin(PGRES_COPY_OUT, until: deadline)
    var isFirst = true
    while true {
      var buffer: UnsafeMutablePointer<CChar>?
      let count = PQgetCopyData(handle, &buffer, 1)
      defer { PQfreemem(buffer) }
      switch count {
      case 1...:
        let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
        guard var row = PostgreSQLCopiedRow(bytes, isFirst: isFirst) else { continue }
        isFirst = false
        do { try body(&row) } catch {
          // The rest of the rows would have to be read.
          isUsable = false
          throw error
        }
      case 0: try wait(for: POLLIN, until: deadline)
      case -1: return try end(until: deadline)
      default: throw lost()
      }
    }
  }

  /// Runs `COPY … FROM STDIN (FORMAT binary)` with the bytes of `chunks`, up to the end marker.
  func copyIn(
    _ sql: String, until deadline: ContinuousClock.Instant, _ next: () throws -> [UInt8]?
  ) throws {
    guard PQsendQuery(handle, sql) == 1 else { throw lost() }
    try begin(PGRES_COPY_IN, until: deadline)
    while let chunk = try next() {
      var sent: Int32 = 0
      repeat {
        sent = chunk.withUnsafeBytes {
          PQputCopyData(
            handle, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
        }
        if sent == 0 { try wait(for: POLLIN | POLLOUT, until: deadline) }
      } while sent == 0
      guard sent == 1 else { throw lost() }
    }
    while true {
      let ended = PQputCopyEnd(handle, nil)
      guard ended >= 0 else { throw lost() }
      if ended == 1 { break }
      try wait(for: POLLIN | POLLOUT, until: deadline)
    }
    try end(until: deadline)
  }

  private func begin(
    _ status: ExecStatusType, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) {
    try waitForResult(until: deadline)
    guard let result = PQgetResult(handle) else { throw lost() }
    defer { PQclear(result) }
    guard PQresultStatus(result) != status else { return }
    let failure = PostgreSQLError(result)
    try end(until: deadline)
    throw failure
  }

  /// Reads the last results of a `COPY`.
  private func end(until deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
    var failure: PostgreSQLError?
    while true {
      try waitForResult(until: deadline)
      guard let result = PQgetResult(handle) else { break }
      if PQresultStatus(result) != PGRES_COMMAND_OK, failure == nil {
        failure = PostgreSQLError(result)
      }
      PQclear(result)
    }
    guard PQstatus(handle) == CONNECTION_OK else { throw lost(failure) }
    if let failure { throw failure }
  }
}

extension Duration {
  /// Without fractions, rounded down.
  var wholeMilliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}

/// Cancels the running statement of a connection, from any thread.
final class PostgreSQLCancellation: Sendable {
  private nonisolated(unsafe) let handle: OpaquePointer?
  private let isOpen = Mutex(true)

  init(_ connection: OpaquePointer) {
    handle = PQgetCancel(connection)
  }

  deinit { PQfreeCancel(handle) }

  /// Asks the server to end the statement. Blocks for as long as another connection takes.
  func cancel() {
    guard isOpen.withLock({ $0 }), let handle else { return }
    var message = [CChar](repeating: 0, count: 256)
    // The request ends at its deadline if this fails.
    _ = PQcancel(handle, &message, Int32(message.count))
  }

  /// Makes later calls of `cancel()` have no effect.
  func close() { isOpen.withLock { $0 = false } }
}
