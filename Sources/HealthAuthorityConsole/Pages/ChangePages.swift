// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import KeyServerAPI
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
    pages.post(router, "/changes/:id/approve", access, approve)
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
    var values = try await effects.shownEffect(of: change, texts).values
    values["change"] = try change.document
    values["reason"] = reason
    values["reasonMax"] = ConsoleLimit.reasonCharactersMax
    if let hours = change.emergencyHours {
      values["alone"] = texts[.changeNow, "\(hours)"]
      values["aloneHelp"] = texts[.changeNowHelp, "\(ConsoleLimit.emergencyPauseHoursMax)"]
    }
    let others = try await independentPeople(
      for: change, about: try await concerned(change)?.id, of: visit.account)
    values["people"] = others == 0 ? texts[.changeNobody] : texts[.changePeople, "\(others)"]
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(
        texts[.changeTitle], .change, values, status: fault == nil ? .ok : .unprocessableContent),
      for: visit)
  }

  /// The number of people who could approve a change that `own` requests. Accounts of one circle count as one person.
  private func independentPeople(
    for change: ConsoleChange, about id: Int64?, of own: Account
  ) async throws -> Int {
    let others = try await accounts.all().filter { account in
      !account.isDisabled && account.isComplete && account.role.rights.contains(change.right)
        && own.isIndependent(of: account) && account.id != id
    }
    return Set(others.map(\.circle)).count
  }

  private func request(_ visit: Visit, _ form: Form) async throws -> Response {
    guard var change = ConsoleChange(document: form.exact("change")) else {
      throw PageRefusal.malformed
    }
    let own = try visit.account
    try check(change, own)
    let account = try await concerned(change)
    if let account { change = change.naming(account) }
    // A link replaces password and code generator: a thief of the session would take the account over.
    if case .makeLink = change, account?.id == own.id {
      throw PageRefusal.refused(visit.texts[.linkOwn])
    }
    let reason = form["reason"]
    guard PlainText.isReason(reason) else {
      let fault = visit.texts[.changeNoReason, "\(ConsoleLimit.reasonCharactersMax)"]
      return try await ask(change, visit, reason: reason, fault: fault)
    }
    do { _ = try await effects.effect(of: change, visit.texts) } catch AuthorityFailure.refused(
      let message)
    {
      return try await show(visit, fault: visit.texts.sentence(message))
    }
    let draft = ProposalStore.Draft(
      document: try change.document, summary: change.summary, reason: reason,
      accountID: account?.id, isUrgent: change.isUrgent)
    if form["when"] == "now" { return try await pauseAlone(change, draft, visit) }
    switch try await requests.add(
      draft, by: own, openMax: ConsoleLimit.openChangesMax,
      circleOpenMax: ConsoleLimit.circleOpenChangesMax)
    {
    case .stored: return try await show(visit, notice: .changeRequested)
    case .duplicate: return try await show(visit, fault: visit.texts[.changeDuplicate])
    case .tooMany(let count):
      return try await show(visit, fault: visit.texts[.changeTooMany, "\(count)"])
    }
  }

  /// The account that a change concerns, however its name is written.
  private func concerned(_ change: ConsoleChange) async throws -> Account? {
    guard let name = change.account else { return nil }
    return try await accounts.account(named: name)
  }

  private func check(_ change: ConsoleChange, _ account: Account) throws {
    guard account.role.rights.contains(change.right) else {
      throw PageRefusal.forbidden(account.role)
    }
  }

  /// Carries out an emergency pause without a second person.
  private func pauseAlone(
    _ change: ConsoleChange, _ draft: ProposalStore.Draft, _ visit: Visit
  ) async throws -> Response {
    let (own, hoursMax) = (try visit.account, "\(ConsoleLimit.emergencyPauseHoursMax)")
    guard let hours = change.emergencyHours,
      let id = try await requests.addAlone(draft, hours: hours, by: own)
    else {
      let fault = visit.texts[.changeNotAlone, hoursMax]
      return try await ask(change, visit, reason: draft.reason, fault: fault)
    }
    // Not a child task: it ends also if the browser goes away.
    return try await Task {
      do {
        _ = try await execution.carryOut(change, files: [], by: own)
      } catch {
        if Self.isRefusal(error) { try await requests.removeAlone(id) }
        throw error
      }
      try await requests.complete(id)
      return PageRenderer.redirection(to: "/phones")
    }.value
  }

  // MARK: - The page

  private func show(
    _ visit: Visit, fault: String? = nil, notice: TextKey? = nil,
    status: HTTPResponse.Status = .unprocessableContent
  ) async throws -> Response {
    let texts = visit.texts
    let own = try visit.account
    let authors = Dictionary(try await accounts.all().map { ($0.name, $0) }) { $1 }
    let waiting = Self.shown(try await requests.open(), to: own)
    let decided = Self.shown(try await requests.decided(ConsoleLimit.versionsOnPage), to: own)
    let reading = effects.reading(for: (waiting + decided).map { $0.change })
    var open: [[String: Any]] = []
    for (request, change) in waiting {
      open.append(
        try await values(request, change, authors[request.proposedBy], reading, visit))
    }
    var history: [[String: Any]] = []
    for (request, change) in decided {
      history.append([
        "time": visit.time(request.decidedAt ?? request.proposedAt + ConsoleLimit.changeSeconds),
        "title": try await title(change, reading, texts),
        "by": texts[.changeBy, request.proposedBy, texts.time(request.proposedAt)],
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

  /// The requests whose change `account` may see, with the change.
  private static func shown(
    _ requests: [Proposal], to account: Account
  ) -> [(request: Proposal, change: ConsoleChange)] {
    requests.compactMap { request in
      guard let change = ConsoleChange(document: request.document),
        account.role.rights.contains(change.right)
      else { return nil }
      return (request, change)
    }
  }

  private func title(
    _ change: ConsoleChange, _ reading: AuthorityReading, _ texts: Texts
  ) async throws -> String {
    do { return try await effects.title(of: change, texts, reading) } catch is AuthorityFailure {
      // A server does not answer: the change is still listed, so that it can be rejected.
      return change.summary
    }
  }

  private static func decision(_ request: Proposal, _ texts: Texts) -> String {
    let key: TextKey =
      switch request.decision {
      case .approved where request.isOutcomeUnknown: .changeApprovedUnknown
      case .alone where request.isOutcomeUnknown: .changeAloneUnknown
      case .withdrawn: .changeWithdrawnShort
      case .approved: .configurationApproved
      case .alone: .changeAlone
      case .rejected: .configurationRejected
      case nil: .changeExpiredShort
      }
    return texts[key, request.decidedBy ?? ""]
  }

  /// The values of an open request. Its effect is computed now.
  private func values(
    _ request: Proposal, _ change: ConsoleChange, _ author: Account?,
    _ reading: AuthorityReading, _ visit: Visit
  ) async throws -> [String: Any] {
    let (texts, own) = (visit.texts, try visit.account)
    var values: [String: Any] = [
      "id": request.id, "reason": request.reason,
      "by": texts[.changeBy, request.proposedBy, texts.time(request.proposedAt)],
    ]
    let obstacle = obstacle(request, change, author, own, texts)
    if let obstacle { values["obstacle"] = obstacle }
    values["canReject"] = try await !isShielded(request, change, from: own)
    do {
      values.merge(try await effects.shownEffect(of: change, texts, reading).values) { $1 }
      values["canApprove"] = obstacle == nil
    } catch let failure as AuthorityFailure {
      values["title"] = try await title(change, reading, texts)
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
    if request.accountID == own.id { return texts[.changeConcernsYou] }
    return author.map(own.isIndependent) == true ? nil : texts[.configurationRelated]
  }

  /// True if `own` cannot reject a request because it concerns their account, or disables one of their circle.
  private func isShielded(
    _ request: Proposal, _ change: ConsoleChange, from own: Account
  ) async throws -> Bool {
    guard let id = request.accountID, id != own.id else { return request.accountID != nil }
    let circle = try await accounts.account(id: id)?.circle
    return change.isUrgent && circle == own.circle
  }

  private static func sentence(_ failure: AuthorityFailure, _ texts: Texts) -> String {
    failure == .notFound ? texts[.changeGone] : PageRefusal(failure).words(texts).text
  }

  /// The number of open requests that `account` can approve, for the start page.
  func waiting(for account: Account) async throws -> Int {
    let authors = Dictionary(try await accounts.all().map { ($0.name, $0) }) { $1 }
    return Self.shown(try await requests.open(), to: account).count { request, change in
      obstacle(request, change, authors[request.proposedBy], account, .english) == nil
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
    guard present.decision != .withdrawn else {
      return texts[.changeAuthorDisabled, request.proposedBy]
    }
    guard present.decision == nil else {
      return texts[.changeDecided, Self.decision(present, texts)]
    }
    return requests.isExpired(present)
      ? texts[.changeExpired, "\(ConsoleLimit.changeSeconds / 86_400)"]
      : texts[.changeAuthorDisabled, request.proposedBy]
  }

  private func reject(_ visit: Visit) async throws -> Response {
    let (request, _) = try await self.request(visit)
    switch try await requests.decide(request.id, .rejected, by: visit.account) {
    case .concernsActor: return try await show(visit, fault: visit.texts[.changeConcernsYou])
    case .notOpen, .notIndependent, .altered:
      return try await show(visit, fault: notOpen(request, visit.texts), status: .conflict)
    case .decided: return try await show(visit, notice: .changeRejected)
    }
  }

  private func approve(_ visit: Visit, _ form: Form) async throws -> Response {
    let (request, change) = try await self.request(visit)
    let (texts, own) = (visit.texts, try visit.account)
    guard request.decision == nil, !requests.isExpired(request) else {
      return try await show(visit, fault: notOpen(request, texts), status: .conflict)
    }
    let author = try await accounts.account(named: request.proposedBy)
    if let obstacle = obstacle(request, change, author, own, texts) {
      return try await show(visit, fault: obstacle)
    }
    let effect: ChangeEffect
    do { effect = try await effects.effect(of: change, texts) } catch let failure
      as AuthorityFailure
    {
      return try await show(visit, fault: Self.sentence(failure, texts), status: .conflict)
    }
    // The person approves what the page has shown.
    guard form["effect"] == effect.digest else {
      return try await show(visit, fault: texts[.changeEffectChanged], status: .conflict)
    }
    // Not a child task: a browser that goes away does not stop it between the decision and its outcome.
    return try await Task { try await decide(request, change, effect.files, visit) }.value
  }

  /// Approves a request and carries it out.
  private func decide(
    _ request: Proposal, _ change: ConsoleChange, _ files: [KeyFileHash], _ visit: Visit
  ) async throws -> Response {
    let (texts, own) = (visit.texts, try visit.account)
    let work = execution.accountWork(change, of: request.accountID, by: own)
    let outcome: ProposalStore.Outcome
    do {
      outcome = try await effects.refusing(texts) {
        try await requests.decide(request.id, .approved, by: own, carryingOut: work?.run)
      }
    } catch let failure as AuthorityFailure {
      return try await show(visit, fault: Self.sentence(failure, texts), status: .conflict)
    }
    switch outcome {
    case .notOpen:
      return try await show(visit, fault: notOpen(request, texts), status: .conflict)
    case .notIndependent: return try await show(visit, fault: texts[.configurationRelated])
    case .concernsActor: return try await show(visit, fault: texts[.changeConcernsYou])
    case .altered: return try await show(visit, fault: texts[.changeAltered], status: .conflict)
    case .decided:
      if let work { return try await response(to: work.result, visit) }
      return try await carryOut(change, files, of: request, by: own, visit)
    }
  }

  /// Carries out an approved change, or opens its request again if it was refused. After another error the outcome is
  /// not known, and the request stays decided.
  private func carryOut(
    _ change: ConsoleChange, _ files: [KeyFileHash], of request: Proposal, by own: Account,
    _ visit: Visit
  ) async throws -> Response {
    let result: ChangeExecution.Result
    do {
      result = try await execution.carryOut(change, files: files, by: own)
    } catch let failure as AuthorityFailure where Self.isRefusal(failure) {
      try await requests.reopen(request.id, by: own.name)
      return try await show(visit, fault: Self.sentence(failure, visit.texts), status: .conflict)
    } catch {
      let status = PageRefusal(error).status
      return try await show(visit, fault: visit.texts[.changeOutcomeUnknown], status: status)
    }
    try await requests.complete(request.id)
    return try await response(to: result, visit)
  }

  /// True if the server has certainly changed nothing.
  private static func isRefusal(_ error: any Error) -> Bool {
    switch error as? AuthorityFailure {
    case .refused, .notIssued, .notFound, .notOffered, .taken, .changed: true
    case .unavailable, nil: false
    }
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
      return lettersPage(texts[.linkTitle, account], [(account, token)], visit)
    case .links(let invited):
      return lettersPage(texts[.linksTitle, "\(invited.count)"], invited, visit)
    }
  }
}
