// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeyServerAPI
import TextEncodings
import World

/// A proposed change, which a second person approves.
struct Proposal: Hashable, Sendable {
  /// The parts of the console with proposals. The raw values are stored.
  enum Kind: String, Sendable {
    /// A new remote configuration.
    case configuration
    /// A change of phones, keys or accounts.
    case administration
  }

  /// The decision of the second person.
  enum Decision: String, Sendable {
    case approved, rejected
    /// An emergency pause: carried out by the person who proposed it.
    case alone
  }

  let id: Int64
  /// The new configuration, or the change, as JSON.
  let document: String
  /// The version of the configuration that it was made from; 0 for other changes.
  let replaces: Int
  let reason: String
  let proposedBy: String
  let proposedAt: Int64
  let decision: Decision?
  let decidedBy: String?
  let decidedAt: Int64?

  init(_ row: Row) {
    id = row["id"]
    document = row["document"]
    replaces = row["replaces"]
    reason = row["reason"]
    proposedBy = row["proposed_by"]
    proposedAt = row["proposed_at"]
    let decision: String? = row["decision"]
    self.decision = decision.flatMap(Decision.init(rawValue:))
    decidedBy = row["decided_by"]
    decidedAt = row["decided_at"]
  }
}

/// The proposals of one kind in the database. Every step is recorded in the audit log in the same transaction.
///
/// Proposals of a disabled account are not open.
struct ProposalStore: Sendable {
  let database: ConsoleDatabase
  let audit: AuditLog
  let clock: any WallClock
  var kind = Proposal.Kind.configuration

  /// The seconds after which a proposal expires; nil if it does not.
  private var seconds: Int64? {
    kind == .configuration ? nil : ConsoleLimit.changeSeconds
  }

  /// True if a proposal without a decision has expired.
  func isExpired(_ proposal: Proposal) -> Bool { proposal.proposedAt <= oldest }

  /// The time after which an open proposal was proposed.
  private var oldest: Int64 { seconds.map { clock.now.unixSecond - $0 } ?? .min }

  private static let openRows = """
    FROM proposal JOIN account ON account.name = proposal.proposed_by
    WHERE decision IS NULL AND disabled_at IS NULL AND kind = ? AND proposed_at > ?
    """

  /// The proposals without a decision, oldest first.
  func open() async throws -> [Proposal] {
    let (kind, oldest) = (kind.rawValue, oldest)
    return try await database.read {
      try Row.fetchAll(
        $0, sql: "SELECT proposal.* \(Self.openRows) ORDER BY proposal.id",
        arguments: [kind, oldest]
      ).map { Proposal($0) }
    }
  }

  /// The decided and the expired proposals, newest first.
  func decided(_ count: Int) async throws -> [Proposal] {
    let (kind, oldest, seconds) = (kind.rawValue, oldest, seconds)
    return try await database.read {
      try Row.fetchAll(
        $0,
        sql: """
          SELECT * FROM proposal WHERE kind = ? AND (decision IS NOT NULL OR proposed_at <= ?)
          ORDER BY coalesce(decided_at, proposed_at + ?) DESC, id DESC LIMIT ?
          """, arguments: [kind, oldest, seconds ?? 0, count]
      ).map { Proposal($0) }
    }
  }

  func proposal(_ id: Int64) async throws -> Proposal? {
    let kind = kind.rawValue
    return try await database.read {
      try Row.fetchOne(
        $0, sql: "SELECT * FROM proposal WHERE id = ? AND kind = ?", arguments: [id, kind]
      ).map { Proposal($0) }
    }
  }

  /// Stores a proposal; returns false if too many are open.
  ///
  /// - Parameter summary: The change in the audit log; empty if the reason describes it.
  func add(
    _ document: String, replacing version: Int = 0, summary: String = "", reason: String,
    by actor: String, openMax: Int
  ) async throws -> Bool {
    let (now, kind, oldest) = (clock.now.unixSecond, kind.rawValue, oldest)
    return try await database.write { db in
      let open = try Int.fetchOne(
        db, sql: "SELECT count(*) \(Self.openRows)", arguments: [kind, oldest])
      guard open ?? 0 < openMax else { return false }
      try insert(document, version, summary, reason, by: actor, at: now, in: db)
      return true
    }
  }

  /// Stores an emergency pause, which its author carries out alone.
  ///
  /// - Returns: Its number; nil if the author's pauses and those of others that were started alone would together last
  ///   longer than one person may pause phones.
  func addAlone(
    _ document: String, hours: Int, summary: String, reason: String, by actor: String
  ) async throws -> Int64? {
    let (now, kind) = (clock.now.unixSecond, kind.rawValue)
    return try await database.write { db in
      let first = try Int64.fetchOne(
        db,
        sql: """
          SELECT min(decided_at) FROM proposal
          WHERE kind = ? AND decision = 'alone' AND decided_at > ?
          """, arguments: [kind, now - ConsoleLimit.emergencyPauseWindowSeconds])
      let end = (first ?? now) + Int64(ConsoleLimit.emergencyPauseHoursMax) * 3_600
      guard now + Int64(hours) * 3_600 <= end else { return nil }
      let id = try insert(
        document, 0, "alone, \(summary)", reason, by: actor, at: now, in: db)
      try db.execute(
        sql: "UPDATE proposal SET decision = ?, decided_by = ?, decided_at = ? WHERE id = ?",
        arguments: [Proposal.Decision.alone.rawValue, actor, now, id])
      return id
    }
  }

  /// Removes an emergency pause that could not be carried out. The audit log keeps it.
  func removeAlone(_ id: Int64) async throws {
    try await database.write {
      try $0.execute(
        sql: "DELETE FROM proposal WHERE id = ? AND decision = 'alone'", arguments: [id])
    }
  }

  @discardableResult
  private func insert(
    _ document: String, _ version: Int, _ summary: String, _ reason: String, by actor: String,
    at now: Int64, in db: Database
  ) throws -> Int64 {
    try db.execute(
      sql: """
        INSERT INTO proposal (kind, document, replaces, reason, proposed_by, proposed_at)
        VALUES (?, ?, ?, ?, ?, ?)
        """, arguments: [kind.rawValue, document, version, reason, actor, now])
    let id = db.lastInsertedRowID
    let detail = summary.isEmpty ? reason : "\(summary): \(reason)"
    let action: AuditAction = kind == .configuration ? .proposed : .changeRequested
    try audit.append(AuditEvent(actor, action, subject(id), detail: detail), at: now, in: db)
    return id
  }

  /// A proposal in the audit log.
  private func subject(_ id: Int64) -> String {
    (kind == .configuration ? "proposal" : "change") + " \(id)"
  }

  /// The outcome of a decision.
  enum Outcome: Sendable {
    case decided
    /// There is no such proposal, it was decided before, or it has expired.
    case notOpen
    /// An approval needs an account that is independent of the one that proposed.
    case notIndependent
  }

  /// Decides an open proposal.
  func decide(
    _ id: Int64, _ decision: Proposal.Decision, by actor: Account
  ) async throws -> Outcome {
    let (now, kind, oldest) = (clock.now.unixSecond, kind.rawValue, oldest)
    return try await database.write { db in
      let row = try Row.fetchOne(
        db, sql: "SELECT account.* \(Self.openRows) AND proposal.id = ?",
        arguments: [kind, oldest, id])
      guard let row else { return .notOpen }
      // Another request may have changed the account of the actor since the session was read.
      guard let present = try AccountStore.account(id: actor.id, in: db), !present.isDisabled
      else { return .notOpen }
      guard decision == .rejected || present.isIndependent(of: Account(row)) else {
        return .notIndependent
      }
      try db.execute(
        sql: "UPDATE proposal SET decision = ?, decided_by = ?, decided_at = ? WHERE id = ?",
        arguments: [decision.rawValue, actor.name, now, id])
      try audit.append(
        AuditEvent(actor.name, action(of: decision), subject(id)), at: now, in: db)
      return .decided
    }
  }

  private func action(of decision: Proposal.Decision) -> AuditAction {
    switch (kind, decision) {
    case (.configuration, .rejected): .rejected
    case (.configuration, _): .approved
    case (.administration, .rejected): .changeRejected
    case (.administration, _): .changeApproved
    }
  }

  /// Opens a proposal again whose approval could not be carried out.
  func reopen(_ id: Int64, by actor: String) async throws {
    let now = clock.now.unixSecond
    try await database.write { db in
      try db.execute(
        sql: """
          UPDATE proposal SET decision = NULL, decided_by = NULL, decided_at = NULL WHERE id = ?
          """, arguments: [id])
      try audit.append(AuditEvent(actor, .failed, subject(id)), at: now, in: db)
    }
  }
}

/// A remote configuration as the JSON document that officials edit.
enum ConfigurationDocument {
  /// The reason why a document is not accepted, as a sentence that names the field.
  struct Fault: Error, Hashable {
    let message: String
  }

  /// The document of `configuration`, in a fixed form, so that changed lines are changed values.
  static func text(of configuration: RemoteConfiguration) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(configuration), as: UTF8.self)
  }

  /// The configuration of a document that an official has typed. A missing field has its default.
  ///
  /// Phones read a configuration leniently. Here an unknown field and a value of another type are errors, because the
  /// official would take them for a change.
  static func configuration(_ text: String) throws(Fault) -> RemoteConfiguration {
    let data = Data(text.utf8)
    let configuration: RemoteConfiguration
    do {
      configuration = try JSONDecoder().decode(RemoteConfiguration.self, from: data)
    } catch {
      throw Fault(message: message(error))
    }
    if let fault = configuration.fault { throw Fault(message: fault) }
    let read: JSONValue
    do {
      read = try JSONValue(encoding: configuration)
    } catch {
      throw Fault(message: message(error))
    }
    guard let typed = JSONValue(json: data) else { throw Fault(message: "not JSON.") }
    if let path = firstUnread(typed, read, at: []) {
      throw Fault(
        message: "\(path.joined(separator: ".")) is not a field, or its value is not accepted.")
    }
    return configuration
  }

  /// The path of the first value of `typed` that `read` does not have.
  private static func firstUnread(
    _ typed: JSONValue, _ read: JSONValue?, at path: [String]
  ) -> [String]? {
    switch typed {
    case .object(let fields):
      guard case .object(let readFields) = read else { return path }
      return fields.sorted { $0.key < $1.key }.lazy.compactMap { name, value in
        firstUnread(value, readFields[name], at: path + [name])
      }.first
    case .array(let elements):
      guard case .array(let readElements) = read, readElements.count == elements.count else {
        return path
      }
      return zip(elements, readElements).enumerated().lazy.compactMap { index, pair in
        firstUnread(pair.0, pair.1, at: path + ["\(index)"])
      }.first
    case .null: return [nil, .null].contains(read) ? nil : path
    default: return read == typed ? nil : path
    }
  }

  private static func message(_ error: any Error) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }
        .joined(separator: ".")
      return path.isEmpty ? "" : "\(path): "
    }
    return switch error as? DecodingError {
    case .keyNotFound(let key, let context): "\(place(context))\(key.stringValue) is missing."
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(place(context))has another type."
    case .dataCorrupted(let context): "\(place(context))\(context.debugDescription)"
    default: "not JSON."
    }
  }
}

/// The lines in which two texts differ: those that are only in the first after `-`, those that are only in the second
/// after `+`.
enum ChangedLines {
  static func text(from old: String, to new: String) -> String {
    let oldLines = old.components(separatedBy: "\n")
    let newLines = new.components(separatedBy: "\n")
    let difference = newLines.difference(from: oldLines)
    let changes = difference.map { change -> (offset: Int, text: String) in
      switch change {
      case .remove(let offset, let line, _): (offset, "- " + line)
      case .insert(let offset, let line, _): (offset, "+ " + line)
      }
    }
    return changes.sorted { ($0.offset, $1.text) < ($1.offset, $0.text) }.map(\.text)
      .joined(separator: "\n")
  }
}
