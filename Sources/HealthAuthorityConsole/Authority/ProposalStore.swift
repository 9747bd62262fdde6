// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeyServerAPI
import TextEncodings
import World

/// A proposed remote configuration.
struct Proposal: Hashable, Sendable {
  /// The decision of the second person.
  enum Decision: String, Sendable {
    case approved, rejected
  }

  let id: Int64
  /// The new configuration as JSON.
  let document: String
  /// The version of the configuration that it was made from.
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

/// The proposals in the database. Every step is recorded in the audit log in the same transaction.
struct ProposalStore: Sendable {
  let database: ConsoleDatabase
  let audit: AuditLog
  let clock: any WallClock

  /// The proposals without a decision, oldest first.
  func open() async throws -> [Proposal] {
    try await database.read {
      try Row.fetchAll($0, sql: "SELECT * FROM proposal WHERE decision IS NULL ORDER BY id")
        .map { Proposal($0) }
    }
  }

  /// The decided proposals, newest first.
  func decided(_ count: Int) async throws -> [Proposal] {
    try await database.read {
      try Row.fetchAll(
        $0,
        sql: """
          SELECT * FROM proposal WHERE decision IS NOT NULL ORDER BY decided_at DESC, id DESC LIMIT ?
          """, arguments: [count]
      ).map { Proposal($0) }
    }
  }

  func proposal(_ id: Int64) async throws -> Proposal? {
    try await database.read {
      try Row.fetchOne($0, sql: "SELECT * FROM proposal WHERE id = ?", arguments: [id])
        .map { Proposal($0) }
    }
  }

  /// Stores a proposal; returns false if too many are open.
  func add(
    _ document: String, replacing version: Int, reason: String, by actor: String, openMax: Int
  ) async throws -> Bool {
    let now = clock.now.unixSecond
    return try await database.write { db in
      let open = try Int.fetchOne(db, sql: "SELECT count(*) FROM proposal WHERE decision IS NULL")
      guard open ?? 0 < openMax else { return false }
      try db.execute(
        sql: """
          INSERT INTO proposal (document, replaces, reason, proposed_by, proposed_at)
          VALUES (?, ?, ?, ?, ?)
          """, arguments: [document, version, reason, actor, now])
      try audit.append(
        AuditEvent(actor, .proposed, "proposal \(db.lastInsertedRowID)", detail: reason), at: now,
        in: db)
      return true
    }
  }

  /// The outcome of a decision.
  enum Outcome: Sendable {
    case decided
    /// There is no such proposal, or it was decided before.
    case notOpen
    /// An approval needs an account that is independent of the one that proposed.
    case notIndependent
  }

  /// Decides an open proposal.
  func decide(
    _ id: Int64, _ decision: Proposal.Decision, by actor: Account
  ) async throws -> Outcome {
    let now = clock.now.unixSecond
    return try await database.write { db in
      let row = try Row.fetchOne(
        db,
        sql: """
          SELECT account.* FROM proposal JOIN account ON account.name = proposal.proposed_by
          WHERE proposal.id = ? AND decision IS NULL
          """, arguments: [id])
      guard let row else { return .notOpen }
      guard decision == .rejected || actor.isIndependent(of: Account(row)) else {
        return .notIndependent
      }
      try db.execute(
        sql: "UPDATE proposal SET decision = ?, decided_by = ?, decided_at = ? WHERE id = ?",
        arguments: [decision.rawValue, actor.name, now, id])
      try audit.append(
        AuditEvent(actor.name, decision == .approved ? .approved : .rejected, "proposal \(id)"),
        at: now, in: db)
      return .decided
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
      try audit.append(AuditEvent(actor, .failed, "proposal \(id)"), at: now, in: db)
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
