import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP

/// The remote configuration: a change is checked, previewed, proposed by one person and approved by another.
struct ConfigurationPages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let proposals: ProposalStore
  let audit: AuditLog

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .changeConfiguration)
    pages.get(router, "/configuration", access) { try await show($0) }
    pages.post(router, "/configuration/preview", access, preview)
    pages.post(router, "/configuration/propose", access, propose)
    pages.post(router, "/configuration/:id/approve", access) { visit, _ in try await approve(visit)
    }
    pages.post(router, "/configuration/:id/reject", access) { visit, _ in
      guard let id = Int64(visit.parameter("id")),
        try await proposals.decide(id, .rejected, by: visit.account.name)
      else { throw PageRefusal.missing }
      return PageRenderer.redirection(to: "/configuration")
    }
  }

  // MARK: - The page

  private func show(
    _ visit: Visit, document: String? = nil, reason: String = "", fault: String? = nil,
    notice: TextKey? = nil
  ) async throws -> Response {
    let current = try await authority.remoteConfiguration()
    let currentText = try Self.text(current)
    let own = try visit.account.name
    let open = try await proposals.open().map { proposal -> [String: Any] in
      let isStale = proposal.replaces != current.version
      return [
        "id": proposal.id, "by": by(proposal, visit), "reason": proposal.reason,
        "changes": ChangedLines.text(from: currentText, to: proposal.document),
        "isStale": isStale, "isOwn": proposal.proposedBy == own,
        "canApprove": !isStale && proposal.proposedBy != own,
      ]
    }
    let history = try await proposals.decided(ConsoleLimit.versionsOnPage).map { proposal in
      [
        "time": visit.time(proposal.decidedAt ?? 0), "by": by(proposal, visit),
        "reason": proposal.reason,
        "decision": visit.texts[
          proposal.decision == .approved ? .configurationApproved : .configurationRejected,
          proposal.decidedBy ?? ""],
      ]
    }
    var values: [String: Any] = [
      "current": visit.texts[.configurationCurrent, "\(current.version)"],
      "document": document ?? currentText, "reason": reason, "hasOpen": !open.isEmpty,
      "open": open, "hasHistory": !history.isEmpty, "history": history,
    ]
    if let fault { values["fault"] = fault }
    if let notice { values["notice"] = visit.texts[notice] }
    return pages.renderer.response(
      Page(
        visit.texts[.configurationTitle], .configuration, values,
        status: fault == nil ? .ok : .unprocessableContent), for: visit)
  }

  private func by(_ proposal: Proposal, _ visit: Visit) -> String {
    visit.texts[.configurationBy, proposal.proposedBy, visit.time(proposal.proposedAt)]
  }

  // MARK: - A change

  /// A change that was checked.
  private struct Change {
    let current: RemoteConfiguration
    let new: RemoteConfiguration
    let reason: String
  }

  /// The reason why a change is not accepted, for the page.
  private struct Fault: Error {
    let sentence: String
  }

  private func change(_ visit: Visit, _ form: Form) async throws -> Change {
    let current = try await authority.remoteConfiguration()
    let data = Data(form["document"].utf8)
    guard data.count <= ConsoleLimit.configurationBytesMax else { throw PageRefusal.tooLarge }
    var new: RemoteConfiguration
    do {
      new = try JSONDecoder().decode(RemoteConfiguration.self, from: data)
    } catch {
      throw Fault(sentence: visit.texts[.configurationInvalid, Self.sentence(error)])
    }
    if let fault = new.fault {
      throw Fault(sentence: visit.texts[.configurationInvalid, fault])
    }
    new.version = current.version
    guard new != current else { throw Fault(sentence: visit.texts[.configurationSame]) }
    // Phones reject a version that is not higher.
    new.version = current.version + 1
    guard !form["reason"].isEmpty else {
      throw Fault(sentence: visit.texts[.configurationNoReason])
    }
    return Change(current: current, new: new, reason: form["reason"])
  }

  /// The change of a form, or the page with its fault.
  private func withChange(
    _ visit: Visit, _ form: Form, _ work: (Change) async throws -> Response
  ) async throws -> Response {
    let change: Change
    do {
      change = try await self.change(visit, form)
    } catch let fault as Fault {
      return try await show(
        visit, document: form["document"], reason: form["reason"], fault: fault.sentence)
    }
    return try await work(change)
  }

  private func preview(_ visit: Visit, _ form: Form) async throws -> Response {
    try await withChange(visit, form) { change in
      let (old, new) = (try Self.text(change.current), try Self.text(change.new))
      var values: [String: Any] = [
        "document": new, "reason": change.reason, "changes": ChangedLines.text(from: old, to: new),
      ]
      do throws(AuthorityFailure) {
        let before = try await authority.effect(of: change.current)
        values["effect"] = ["rows": rows(before, try await authority.effect(of: change.new), visit)]
      } catch {
        values["noEffect"] = PageRefusal(error).words(visit.texts).text
      }
      return pages.renderer.response(
        Page(visit.texts[.configurationPreviewTitle], .preview, values), for: visit)
    }
  }

  private func rows(
    _ before: ConfigurationEffect, _ after: ConfigurationEffect, _ visit: Visit
  ) -> [[String: String]] {
    let texts = visit.texts
    func row(
      _ kind: TextKey, _ when: TextKey, _ levels: ConfigurationEffect.Levels
    ) -> [String: String] {
      [
        "name": "\(texts[kind]), \(texts[when].lowercased())", "none": "\(levels.none)",
        "low": "\(levels.low)", "high": "\(levels.high)",
      ]
    }
    return [
      row(.configurationWindows, .configurationBefore, before.windows),
      row(.configurationWindows, .configurationAfter, after.windows),
      row(.configurationDays, .configurationBefore, before.days),
      row(.configurationDays, .configurationAfter, after.days),
    ]
  }

  private func propose(_ visit: Visit, _ form: Form) async throws -> Response {
    try await withChange(visit, form) { change in
      let isStored = try await proposals.add(
        try Self.text(change.new), replacing: change.current.version, reason: change.reason,
        by: visit.account.name, openMax: ConsoleLimit.openProposalsMax)
      guard isStored else { throw PageRefusal.tooLarge }
      return try await show(visit, notice: .configurationProposed)
    }
  }

  // MARK: - The approval

  private func approve(_ visit: Visit) async throws -> Response {
    let actor = try visit.account.name
    guard let id = Int64(visit.parameter("id")), let proposal = try await proposals.proposal(id)
    else { throw PageRefusal.missing }
    guard proposal.proposedBy != actor else {
      return try await show(visit, fault: visit.texts[.configurationOwn])
    }
    let current = try await authority.remoteConfiguration()
    guard proposal.replaces == current.version else {
      return try await show(visit, fault: visit.texts[.configurationStale])
    }
    let configuration = try JSONDecoder().decode(
      RemoteConfiguration.self, from: Data(proposal.document.utf8))
    guard try await proposals.decide(id, .approved, by: actor) else { throw PageRefusal.missing }
    do throws(AuthorityFailure) {
      try await authority.replace(configuration)
    } catch {
      try await proposals.reopen(id, by: actor)
      throw error
    }
    return try await show(visit, notice: .configurationDone)
  }

  // MARK: - Text

  /// The configuration as JSON in a fixed form, so that changed lines are changed values.
  private static func text(_ configuration: RemoteConfiguration) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(configuration), as: UTF8.self)
  }

  /// The fault of a document that cannot be decoded, with the place.
  private static func sentence(_ error: any Error) -> String {
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
