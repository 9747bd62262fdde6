// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import ServerStorage
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
    /// Ended because the account that proposed it was disabled or recovered.
    case withdrawn
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
  /// The account that a change concerns.
  let accountID: Int64?
  /// True if it was approved, and it is not known whether it was carried out.
  let isOutcomeUnknown: Bool

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
    accountID = row["account_id"]
    let carriedOutAt: Int64? = row["carried_out_at"]
    isOutcomeUnknown = [.approved, .alone].contains(self.decision) && carriedOutAt == nil
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
      try $0.rows(
        sql: "SELECT proposal.* \(Self.openRows) ORDER BY proposal.id",
        arguments: [kind, oldest]
      ).map { Proposal($0) }
    }
  }

  /// The decided and the expired proposals, newest first.
  func decided(_ count: Int) async throws -> [Proposal] {
    let (kind, oldest, seconds) = (kind.rawValue, oldest, seconds)
    return try await database.read {
      try $0.rows(
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
      try $0.row(sql: "SELECT * FROM proposal WHERE id = ? AND kind = ?", arguments: [id, kind])
        .map { Proposal($0) }
    }
  }

  /// A proposal that is not stored yet.
  struct Draft: Sendable {
    let document: String
    /// The version of the configuration that it was made from.
    var replaces = 0
    /// The change in the audit log; empty if the reason describes it.
    var summary = ""
    let reason: String
    /// The account that the change concerns.
    var accountID: Int64?
    /// True if it may be stored although many proposals are open.
    var isUrgent = false
  }

  /// The outcome of a new proposal.
  enum Addition: Hashable, Sendable {
    case stored
    /// The same change is proposed already.
    case duplicate
    /// Too many are open: this many of all people, or of the circle of one.
    case tooMany(Int)
  }

  /// Stores a proposal.
  ///
  /// - Parameters:
  ///   - openMax: The largest number of open proposals.
  ///   - circleOpenMax: The largest number of open proposals by accounts of one circle.
  func add(
    _ draft: Draft, by actor: Account, openMax: Int, circleOpenMax: Int = .max
  ) async throws -> Addition {
    let (now, oldest) = (clock.now.unixSecond, oldest)
    return try await database.write { db in
      if kind == .administration, try isOpen(draft.document, since: oldest, in: db) {
        return .duplicate
      }
      if !draft.isUrgent {
        let circle = try openCount(circle: actor.circle, since: oldest, in: db)
        guard circle < circleOpenMax else { return .tooMany(circleOpenMax) }
        let open = try openCount(since: oldest, in: db)
        guard open < openMax else { return .tooMany(openMax) }
      }
      try insert(draft, by: actor.name, at: now, in: db)
      return .stored
    }
  }

  private func openCount(
    circle: Int64? = nil, since oldest: Int64, in db: ConsoleTransaction
  ) throws -> Int {
    var arguments: [ConsoleTransaction.Argument] = [kind.rawValue, oldest]
    if let circle { arguments.append(circle) }
    return try db.count(
      sql: "SELECT count(*) \(Self.openRows)\(circle == nil ? "" : " AND circle = ?")",
      arguments: arguments)
  }

  private func isOpen(
    _ document: String, since oldest: Int64, in db: ConsoleTransaction
  ) throws -> Bool {
    try db.row(
      sql: "SELECT 1 \(Self.openRows) AND document = ?",
      arguments: [kind.rawValue, oldest, document]) != nil
  }

  /// Stores an emergency pause, which its author carries out alone.
  ///
  /// - Returns: Its number; nil if the pauses that people of the author's circle started alone would together last
  ///   longer than one person may pause phones.
  func addAlone(_ draft: Draft, hours: Int, by actor: Account) async throws -> Int64? {
    let now = clock.now.unixSecond
    let lastEnd = now + Int64(hours) * 3_600
    return try await database.write { db in
      // A second person who approves a change has seen the pause.
      let approval = try lastApproval(in: db)
      for start in [
        now - ConsoleLimit.emergencyPauseWindowSeconds,
        max(now - ConsoleLimit.emergencyPausePeriodSeconds, approval),
      ] {
        let first = try firstAlone(circle: actor.circle, after: start, in: db) ?? now
        guard lastEnd <= first + Int64(ConsoleLimit.emergencyPauseHoursMax) * 3_600 else {
          return nil
        }
      }
      var draft = draft
      draft.summary = "alone, \(draft.summary)"
      let id = try insert(draft, by: actor.name, at: now, in: db)
      try store(.alone, of: id, by: actor.name, at: now, in: db)
      return id
    }
  }

  /// The time of the first pause that an account of `circle` started alone after a time.
  private func firstAlone(
    circle: Int64, after start: Int64, in db: ConsoleTransaction
  ) throws -> Int64? {
    try db.integer(
      sql: """
        SELECT min(decided_at) FROM proposal JOIN account ON account.name = proposal.proposed_by
        WHERE kind = ? AND decision = 'alone' AND decided_at > ? AND circle = ?
        """, arguments: [kind.rawValue, start, circle])
  }

  private func lastApproval(in db: ConsoleTransaction) throws -> Int64 {
    try db.integer(
      sql: "SELECT max(decided_at) FROM proposal WHERE kind = ? AND decision = 'approved'",
      arguments: [kind.rawValue]) ?? .min
  }

  /// Removes an emergency pause that was not carried out. The audit log keeps it.
  func removeAlone(_ id: Int64) async throws {
    try await database.write {
      try $0.execute(
        sql: "DELETE FROM proposal WHERE id = ? AND decision = 'alone'", arguments: [id])
    }
  }

  @discardableResult
  private func insert(
    _ draft: Draft, by actor: String, at now: Int64, in db: ConsoleTransaction
  ) throws -> Int64 {
    let id = try db.integer(
      sql: """
        INSERT INTO proposal (kind, document, replaces, reason, proposed_by, proposed_at, account_id)
        VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id
        """,
      arguments: [
        kind.rawValue, draft.document, draft.replaces, draft.reason, actor, now, draft.accountID,
      ])
    guard let id else { throw ServerDatabaseError.unavailable }
    let detail =
      kind == .configuration
      ? draft.reason : "\(Self.seal(draft.document)), \(draft.summary): \(draft.reason)"
    try audit.append(AuditEvent(actor, proposing, subject(id), detail: detail), at: now, in: db)
    return id
  }

  /// The action of a new proposal in the audit log.
  private var proposing: AuditAction { kind == .configuration ? .proposed : .changeRequested }

  /// A proposal in the audit log.
  private func subject(_ id: Int64) -> String { Self.subject(id, kind) }

  private static func subject(_ id: Int64, _ kind: Proposal.Kind) -> String {
    (kind == .configuration ? "proposal" : "change") + " \(id)"
  }

  /// The text about a document at the start of its audit entry. A later version of the document is not approved.
  private static func seal(_ document: String) -> String {
    "SHA-256 \(SHA256.hash(data: Data(document.utf8)).hexadecimal)"
  }

  /// True if the document of a change is the one that was requested.
  private func isSealed(_ proposal: Proposal, in db: ConsoleTransaction) throws -> Bool {
    guard kind == .administration else { return true }
    let detail = try db.text(
      sql: "SELECT detail FROM audit WHERE action = ? AND subject = ? ORDER BY sequence LIMIT 1",
      arguments: [proposing.rawValue, subject(proposal.id)])
    return detail?.hasPrefix(Self.seal(proposal.document)) ?? false
  }

  /// The outcome of a decision.
  enum Outcome: Sendable {
    case decided
    /// There is no such proposal, it was decided before, or it has expired.
    case notOpen
    /// An approval needs an account that is independent of the one that proposed.
    case notIndependent
    /// The change concerns the account that decides.
    case concernsActor
    /// The document is not the one of the audit log.
    case altered
  }

  /// Decides an open proposal.
  ///
  /// - Parameter carryingOut: Carries the change out in the transaction of the decision. Without it, the caller does,
  ///   and reports the outcome with `complete(_:)` or `reopen(_:by:)`.
  func decide(
    _ id: Int64, _ decision: Proposal.Decision, by actor: Account,
    carryingOut: (@Sendable (ConsoleTransaction) throws -> Void)? = nil
  ) async throws -> Outcome {
    let (now, kind, oldest) = (clock.now.unixSecond, kind.rawValue, oldest)
    return try await database.write { db in
      let row = try db.row(
        sql: "SELECT account.* \(Self.openRows) AND proposal.id = ?",
        arguments: [kind, oldest, id])
      let stored = try db.row(sql: "SELECT * FROM proposal WHERE id = ?", arguments: [id])
        .map { Proposal($0) }
      guard let row, let stored else { return .notOpen }
      // Another request may have changed the account of the actor since the session was read.
      guard let present = try AccountStore.account(id: actor.id, in: db), !present.isDisabled
      else { return .notOpen }
      if try concerns(present, stored, decision, in: db) { return .concernsActor }
      guard decision == .rejected || present.isIndependent(of: Account(row)) else {
        return .notIndependent
      }
      guard try decision == .rejected || isSealed(stored, in: db) else { return .altered }
      try store(decision, of: id, by: actor.name, at: now, in: db)
      try audit.append(
        AuditEvent(actor.name, action(of: decision), subject(id)), at: now, in: db)
      if let carryingOut {
        try carryingOut(db)
        try Self.complete(id, at: now, in: db)
      }
      return .decided
    }
  }

  /// True if `actor` may not decide a change because it concerns their account. People of its circle do not prevent
  /// that it is disabled either.
  private func concerns(
    _ actor: Account, _ proposal: Proposal, _ decision: Proposal.Decision, in db: ConsoleTransaction
  ) throws -> Bool {
    guard let id = proposal.accountID else { return false }
    guard id != actor.id else { return true }
    guard decision == .rejected, case .disableAccount = ConsoleChange(document: proposal.document)
    else { return false }
    return try AccountStore.account(id: id, in: db)?.circle == actor.circle
  }

  private func store(
    _ decision: Proposal.Decision, of id: Int64, by actor: String, at now: Int64,
    in db: ConsoleTransaction
  ) throws {
    try db.execute(
      sql: "UPDATE proposal SET decision = ?, decided_by = ?, decided_at = ? WHERE id = ?",
      arguments: [decision.rawValue, actor, now, id])
  }

  /// Records that an approved change was carried out.
  func complete(_ id: Int64) async throws {
    let now = clock.now.unixSecond
    try await database.write { try Self.complete(id, at: now, in: $0) }
  }

  private static func complete(_ id: Int64, at now: Int64, in db: ConsoleTransaction) throws {
    try db.execute(
      sql: "UPDATE proposal SET carried_out_at = ? WHERE id = ?", arguments: [now, id])
  }

  /// Ends the open proposals of an account, so that none of a thief outlives the theft.
  ///
  /// - Returns: Their names in the audit log.
  static func withdraw(
    of account: Account, by actor: String, at now: Int64, in db: ConsoleTransaction
  ) throws -> [String] {
    let open = "proposed_by = ? AND decision IS NULL"
    let names = try db.rows(
      sql: "SELECT id, kind FROM proposal WHERE \(open) ORDER BY id",
      arguments: [account.name]
    ).map { row in
      let kind: String = row["kind"]
      return subject(row["id"], Proposal.Kind(rawValue: kind) ?? .administration)
    }
    try db.execute(
      sql: """
        UPDATE proposal SET decision = 'withdrawn', decided_by = ?, decided_at = ? WHERE \(open)
        """, arguments: [actor, now, account.name])
    return names
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
