import Foundation
import GRDB
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
