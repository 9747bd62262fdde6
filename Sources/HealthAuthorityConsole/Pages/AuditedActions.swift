import Foundation

/// Carries out actions of other servers with an entry in the audit log.
///
/// The entry is stored first: an action without an entry would be worse than an entry of an action that failed, which
/// gets a second entry.
struct AuditedActions: Sendable {
  let audit: AuditLog

  /// Records `event` and does `work`.
  ///
  /// - Throws: The error of `work`, which is recorded too, or of the database; then nothing was done.
  func perform<Value: Sendable>(
    _ event: AuditEvent, _ work: () async throws(AuthorityFailure) -> Value
  ) async throws -> Value {
    try await audit.append(event)
    do throws(AuthorityFailure) {
      return try await work()
    } catch {
      try await audit.append(
        AuditEvent(
          event.actor, .failed, event.subject, detail: "\(event.action.rawValue): \(error.kind)"))
      throw error
    }
  }
}

extension AuthorityFailure {
  /// The failure without texts of other servers.
  fileprivate var kind: String {
    switch self {
    case .refused: "refused"
    case .notFound: "not found"
    case .taken: "issued before"
    case .changed: "changed before"
    case .unavailable: "unavailable"
    case .notOffered: "not offered"
    }
  }
}
