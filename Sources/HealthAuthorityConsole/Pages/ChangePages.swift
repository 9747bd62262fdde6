// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import World

/// The changes of phones, keys and accounts: their effect is shown, one person requests them, and another approves.
struct ChangePages: Sendable {
  let pages: PageRouter
  let requests: ProposalStore
  let accounts: AccountStore
  let effects: ChangeEffects
  let execution: ChangeExecution

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.anyHolder(of: ConsoleChange.rights)
    pages.get(router, "/changes", access) { try await show($0) }
    pages.post(router, "/changes", access, request)
    pages.post(router, "/changes/:id/approve", access) { visit, _ in try await approve(visit) }
    pages.post(router, "/changes/:id/reject", access) { visit, _ in try await reject(visit) }
  }

  // MARK: - The request

  /// The page with the effect of a change, on which it can be requested. Nothing is changed yet.
  ///
  /// - Throws: `AuthorityFailure` with the reason if the change is not possible.
  func ask(
    _ change: ConsoleChange, _ visit: Visit, reason: String = "", fault: String? = nil
  ) async throws -> Response {
    let texts = visit.texts
    var values = try await effects.effect(of: change, texts).values
    values["change"] = try change.document
    values["reason"] = reason
    values["reasonMax"] = ConsoleLimit.reasonCharactersMax
    if let hours = change.emergencyHours {
      values["alone"] = texts[.changeNow, "\(hours)"]
      values["aloneHelp"] = texts[.changeNowHelp, "\(ConsoleLimit.emergencyPauseHoursMax)"]
    }
    let others = try await independentPeople(for: change, of: visit.account)
    values["people"] = others == 0 ? texts[.changeNobody] : texts[.changePeople, "\(others)"]
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(
        texts[.changeTitle], .change, values, status: fault == nil ? .ok : .unprocessableContent),
      for: visit)
  }

  /// The number of people who could approve a change that `own` requests. Accounts of one circle count as one person.
  private func independentPeople(for change: ConsoleChange, of own: Account) async throws -> Int {
    let others = try await accounts.all().filter { account in
      !account.isDisabled && account.isComplete && account.role.rights.contains(change.right)
        && own.isIndependent(of: account) && account.name != change.account
    }
    return Set(others.map(\.circle)).count
  }

  private func request(_ visit: Visit, _ form: Form) async throws -> Response {
    guard let change = ConsoleChange(document: form.exact("change")) else {
      throw PageRefusal.malformed
    }
    let own = try visit.account
    try check(change, own)
    // A link replaces password and code generator: a thief of the session would take the account over.
    if case .makeLink(own.name) = change { throw PageRefusal.refused(visit.texts[.linkOwn]) }
    let reason = form["reason"]
    guard (1...ConsoleLimit.reasonCharactersMax).contains(reason.count) else {
      let fault = visit.texts[.changeNoReason, "\(ConsoleLimit.reasonCharactersMax)"]
      return try await ask(change, visit, reason: reason, fault: fault)
    }
    do { _ = try await effects.effect(of: change, visit.texts) } catch AuthorityFailure.refused(
      let message)
    {
      return try await show(visit, fault: message)
    }
    if form["when"] == "now" { return try await pauseAlone(change, reason, visit) }
    let isStored = try await requests.add(
      try change.document, summary: change.summary, reason: reason, by: own.name,
      openMax: ConsoleLimit.openChangesMax)
    guard isStored else {
      return try await show(
        visit, fault: visit.texts[.changeTooMany, "\(ConsoleLimit.openChangesMax)"])
    }
    return try await show(visit, notice: .changeRequested)
  }

  private func check(_ change: ConsoleChange, _ account: Account) throws {
    guard account.role.rights.contains(change.right) else {
      throw PageRefusal.forbidden(account.role)
    }
  }

  /// Carries out an emergency pause without a second person.
  private func pauseAlone(
    _ change: ConsoleChange, _ reason: String, _ visit: Visit
  ) async throws -> Response {
    let (own, hoursMax) = (try visit.account, "\(ConsoleLimit.emergencyPauseHoursMax)")
    guard let hours = change.emergencyHours,
      let id = try await requests.addAlone(
        try change.document, hours: hours, summary: change.summary, reason: reason, by: own.name)
    else {
      let fault = visit.texts[.changeNotAlone, hoursMax]
      return try await ask(change, visit, reason: reason, fault: fault)
    }
    do {
      _ = try await execution.carryOut(change, by: own)
    } catch {
      try await requests.removeAlone(id)
      throw error
    }
    return PageRenderer.redirection(to: "/phones")
  }

  // MARK: - The page

  private func show(
    _ visit: Visit, fault: String? = nil, notice: TextKey? = nil,
    status: HTTPResponse.Status = .unprocessableContent
  ) async throws -> Response {
    let texts = visit.texts
    let own = try visit.account
    let authors = Dictionary(try await accounts.all().map { ($0.name, $0) }) { $1 }
    var open: [[String: Any]] = []
    for request in try await requests.open() {
      guard let change = ConsoleChange(document: request.document),
        own.role.rights.contains(change.right)
      else { continue }
      open.append(try await values(request, change, authors[request.proposedBy], visit))
    }
    var history: [[String: Any]] = []
    for request in try await requests.decided(ConsoleLimit.versionsOnPage) {
      guard let change = ConsoleChange(document: request.document),
        own.role.rights.contains(change.right)
      else { continue }
      history.append([
        "time": visit.time(request.decidedAt ?? request.proposedAt + ConsoleLimit.changeSeconds),
        "title": try await title(change, texts),
        "by": texts[.changeBy, request.proposedBy, visit.time(request.proposedAt)],
        "reason": request.reason, "decision": Self.decision(request, texts),
      ])
    }
    var values: [String: Any] = [
      "hasOpen": !open.isEmpty, "open": open, "hasHistory": !history.isEmpty, "history": history,
      "lead": texts[.changesLead, "\(ConsoleLimit.changeSeconds / 86_400)"],
    ]
    if let fault { values["fault"] = fault }
    if let notice { values["notice"] = texts[notice] }
    return pages.renderer.response(
      Page(texts[.changesTitle], .changes, values, status: fault == nil ? .ok : status),
      for: visit)
  }

  private func title(_ change: ConsoleChange, _ texts: Texts) async throws -> String {
    do { return try await effects.title(of: change, texts) } catch is AuthorityFailure {
      // A server does not answer: the change is still listed, so that it can be rejected.
      return change.summary
    }
  }

  private static func decision(_ request: Proposal, _ texts: Texts) -> String {
    let key: TextKey =
      switch request.decision {
      case .approved: .configurationApproved
      case .alone: .changeAlone
      case .rejected: .configurationRejected
      case nil: .changeExpiredShort
      }
    return texts[key, request.decidedBy ?? ""]
  }

  /// The values of an open request. Its effect is computed now.
  private func values(
    _ request: Proposal, _ change: ConsoleChange, _ author: Account?, _ visit: Visit
  ) async throws -> [String: Any] {
    let (texts, own) = (visit.texts, try visit.account)
    var values: [String: Any] = [
      "id": request.id, "reason": request.reason,
      "by": texts[.changeBy, request.proposedBy, visit.time(request.proposedAt)],
    ]
    let obstacle = obstacle(request, change, author, own, texts)
    if let obstacle { values["obstacle"] = obstacle }
    values["canReject"] = change.account != own.name
    do {
      values.merge(try await effects.effect(of: change, texts).values) { $1 }
      values["canApprove"] = obstacle == nil
    } catch let failure as AuthorityFailure {
      values["title"] = try await title(change, texts)
      values["impossible"] = Self.sentence(failure, texts)
    }
    return values
  }

  /// The reason why `own` cannot approve a request; nil if there is none.
  private func obstacle(
    _ request: Proposal, _ change: ConsoleChange, _ author: Account?, _ own: Account,
    _ texts: Texts
  ) -> String? {
    if request.proposedBy == own.name { return texts[.changeOwn] }
    if change.account == own.name { return texts[.changeConcernsYou] }
    return author.map(own.isIndependent) == true ? nil : texts[.configurationRelated]
  }

  private static func sentence(_ failure: AuthorityFailure, _ texts: Texts) -> String {
    failure == .notFound ? texts[.changeGone] : PageRefusal(failure).words(texts).text
  }

  /// The number of open requests that `account` can approve, for the start page.
  func waiting(for account: Account) async throws -> Int {
    let authors = Dictionary(try await accounts.all().map { ($0.name, $0) }) { $1 }
    return try await requests.open().count { request in
      guard let change = ConsoleChange(document: request.document),
        account.role.rights.contains(change.right)
      else { return false }
      return obstacle(request, change, authors[request.proposedBy], account, .of(.english)) == nil
    }
  }

  // MARK: - The decision

  /// The request in the path with its change.
  ///
  /// - Throws: `PageRefusal.missing`, or `.forbidden` if the account does not have the right.
  private func request(_ visit: Visit) async throws -> (Proposal, ConsoleChange) {
    guard let id = Int64(visit.parameter("id")), let request = try await requests.proposal(id),
      let change = ConsoleChange(document: request.document)
    else { throw PageRefusal.missing }
    try check(change, visit.account)
    return (request, change)
  }

  /// The reason why a request is not open any more.
  private func notOpen(_ request: Proposal, _ texts: Texts) async throws -> String {
    let present = try await requests.proposal(request.id) ?? request
    guard present.decision == nil else {
      return texts[.changeDecided, Self.decision(present, texts)]
    }
    return requests.isExpired(present)
      ? texts[.changeExpired, "\(ConsoleLimit.changeSeconds / 86_400)"]
      : texts[.changeAuthorDisabled, request.proposedBy]
  }

  private func reject(_ visit: Visit) async throws -> Response {
    let (request, change) = try await self.request(visit)
    let own = try visit.account
    guard change.account != own.name else {
      return try await show(visit, fault: visit.texts[.changeConcernsYou])
    }
    guard case .decided = try await requests.decide(request.id, .rejected, by: own) else {
      return try await show(visit, fault: notOpen(request, visit.texts), status: .conflict)
    }
    return try await show(visit, notice: .changeRejected)
  }

  private func approve(_ visit: Visit) async throws -> Response {
    let (request, change) = try await self.request(visit)
    let (texts, own) = (visit.texts, try visit.account)
    guard request.decision == nil else {
      return try await show(visit, fault: notOpen(request, texts), status: .conflict)
    }
    let author = try await accounts.account(named: request.proposedBy)
    if let obstacle = obstacle(request, change, author, own, texts) {
      return try await show(visit, fault: obstacle)
    }
    do { _ = try await effects.effect(of: change, texts) } catch let failure as AuthorityFailure {
      return try await show(visit, fault: Self.sentence(failure, texts), status: .conflict)
    }
    switch try await requests.decide(request.id, .approved, by: own) {
    case .notOpen:
      return try await show(visit, fault: notOpen(request, texts), status: .conflict)
    case .notIndependent: return try await show(visit, fault: texts[.configurationRelated])
    case .decided: return try await carryOut(change, of: request, by: own, visit)
    }
  }

  /// Carries out an approved change, or opens its request again.
  private func carryOut(
    _ change: ConsoleChange, of request: Proposal, by own: Account, _ visit: Visit
  ) async throws -> Response {
    let result: ChangeExecution.Result
    do {
      result = try await effects.refusing(visit.texts) {
        try await execution.carryOut(change, by: own)
      }
    } catch {
      try await requests.reopen(request.id, by: own.name)
      guard let failure = error as? AuthorityFailure, failure != .unavailable else { throw error }
      return try await show(visit, fault: Self.sentence(failure, visit.texts), status: .conflict)
    }
    return try await response(to: result, visit)
  }

  private func response(to result: ChangeExecution.Result, _ visit: Visit) async throws -> Response
  {
    let texts = visit.texts
    switch result {
    case .done: return try await show(visit, notice: .changeDone)
    case .apiKey(let name, let text):
      let title = texts[.keysNewAPI, name]
      return pages.renderer.response(
        Page(title, .secret, ["title": title, "secret": text, "for": texts[.changeFor, name]]),
        for: visit)
    case .link(let account, let token):
      let title = texts[.linkTitle, account]
      return pages.renderer.response(
        Page(title, .link, ["title": title, "address": "\(visit.origin)/start/\(token)"]),
        for: visit)
    }
  }
}

/// The templates of changes that need two people.
enum ChangeTemplates {
  private static let effect = """
    <ul class="effect">
    {{#sentences}}<li>{{text}}</li>{{/sentences}}
    </ul>
    """

  static let change = """
    <h1>{{t.changeTitle}}</h1>
    <p class="lead">{{t.changeLead}}</p>
    \(LayoutTemplate.notices)
    <form method="post" action="/changes" class="card" aria-labelledby="change-name">
    <h2 id="change-name">{{title}}</h2>
    \(effect)
    <p class="help" id="people">{{people}}</p>
    \(LayoutTemplate.token)
    <input type="hidden" name="change" value="{{change}}">
    <label for="reason">{{t.configurationReason}}</label>
    <textarea id="reason" name="reason" rows="2" required maxlength="{{reasonMax}}">{{reason}}</textarea>
    {{#aloneHelp}}<p class="help">{{aloneHelp}}</p>{{/aloneHelp}}
    <div class="actions"><button id="request" class="primary">{{t.changeRequest}}</button>
    {{#alone}}<button id="now" class="danger" name="when" value="now">{{alone}}</button>{{/alone}}
    <a class="button" href="/changes">{{t.changeCancel}}</a></div>
    </form>
    """

  static let changes = """
    <h1>{{t.changesTitle}}</h1>
    <p class="lead">{{lead}}</p>
    \(LayoutTemplate.notices)
    <h2>{{t.changesOpen}}</h2>
    {{#open}}
    <section class="card" aria-labelledby="change-{{id}}">
    <h3 id="change-{{id}}">{{title}}</h3>
    <p><strong>{{by}}</strong></p>
    <p>{{reason}}</p>
    \(effect)
    {{#impossible}}<p class="fault">{{impossible}}</p>{{/impossible}}
    {{#obstacle}}<p>{{obstacle}}</p>{{/obstacle}}
    <div class="actions">
    {{#canApprove}}
    <form method="post" action="/changes/{{id}}/approve">\(LayoutTemplate.token)
    <button id="approve-{{id}}" class="primary" aria-label="{{t.changeApprove}}: {{title}}">{{t.changeApprove}}</button>
    </form>
    {{/canApprove}}
    {{#canReject}}
    <form method="post" action="/changes/{{id}}/reject">\(LayoutTemplate.token)
    <button id="reject-{{id}}" aria-label="{{t.configurationReject}}: {{title}}">{{t.configurationReject}}</button>
    </form>
    {{/canReject}}
    </div>
    </section>
    {{/open}}
    {{^hasOpen}}<p>{{t.changesNone}}</p>{{/hasOpen}}
    {{#hasHistory}}
    <h2>{{t.configurationHistory}}</h2>
    \(LayoutTemplate.wide("changes-caption"))
    <table id="history"><caption id="changes-caption">{{t.changesHistoryCaption}}. {{t.utc}}</caption>
    <thead><tr><th scope="col">{{t.time}}</th><th scope="col">{{t.changeColumn}}</th>
    <th scope="col">{{t.configurationReason}}</th><th scope="col">{{t.configurationDecision}}</th></tr></thead>
    <tbody>
    {{#history}}<tr><td class="time">{{time}}</td><td>{{title}}</td><td>{{by}}<br>{{reason}}</td><td>{{decision}}</td>
    </tr>{{/history}}
    </tbody></table></div>
    {{/hasHistory}}
    """
}
