// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP

/// The remote configuration: a change is checked, previewed, proposed by one person and approved by another.
struct ConfigurationPages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let proposals: ProposalStore
  let accounts: AccountStore

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .changeConfiguration)
    pages.get(router, "/configuration", access) { try await show($0) }
    pages.get(router, "/configuration/:id", access, showEffect)
    pages.post(router, "/configuration/preview", access, preview)
    pages.post(router, "/configuration/propose", access, propose)
    pages.post(router, "/configuration/:id/approve", access) { visit, _ in try await approve(visit)
    }
    pages.post(router, "/configuration/:id/reject", access) { visit, _ in
      guard let id = Int64(visit.parameter("id")),
        case .decided = try await proposals.decide(id, .rejected, by: visit.account)
      else { throw PageRefusal.missing }
      return PageRenderer.redirection(to: "/configuration")
    }
  }

  // MARK: - The page

  private func show(
    _ visit: Visit, typed: Form? = nil, fault: String? = nil, notice: TextKey? = nil
  ) async throws -> Response {
    let current = try await authority.remoteConfiguration()
    let currentText = try ConfigurationDocument.text(of: current)
    let own = try visit.account
    let proposers = Dictionary(try await accounts.all().map { ($0.name, $0) }) { $1 }
    let open = try await proposals.open().map { proposal -> [String: Any] in
      let isStale = proposal.replaces != current.version
      let isOwn = proposal.proposedBy == own.name
      let isIndependent = proposers[proposal.proposedBy].map(own.isIndependent) ?? false
      return [
        "id": proposal.id, "by": by(proposal, visit), "reason": proposal.reason,
        "changes": ChangedLines.text(from: currentText, to: proposal.document),
        "isStale": isStale, "isOwn": isOwn, "isRelated": !isOwn && !isIndependent,
        "canApprove": !isStale && isIndependent,
      ]
    }
    let history = try await proposals.decided(ConsoleLimit.versionsOnPage).map { proposal in
      [
        "time": visit.time(proposal.decidedAt ?? 0), "by": by(proposal, visit),
        "reason": proposal.reason,
        "decision": Self.decision(proposal, visit.texts),
      ]
    }
    var values: [String: Any] = [
      "current": visit.texts[.configurationCurrent, "\(current.version)"],
      "reason": typed?["reason"] ?? "", "reasonMax": ConsoleLimit.reasonCharactersMax,
      "hasOpen": !open.isEmpty,
      "open": open, "hasHistory": !history.isEmpty, "history": history,
    ]
    let isJSON = typed.map { !Self.hasFields($0) } ?? (visit.query("as") == "json")
    values["isJSON"] = isJSON
    if isJSON {
      values["document"] = typed?["document"] ?? currentText
    } else {
      // The version of the typed numbers, so that they do not undo a change that was approved meanwhile.
      values["version"] = typed?[Self.versionField] ?? "\(current.version)"
      values["groups"] = try ConfigurationFields.values(of: current, typed: typed, visit.texts)
    }
    if let fault { values["fault"] = fault }
    if let notice { values["notice"] = visit.texts[notice] }
    return pages.renderer.response(
      Page(
        visit.texts[.configurationTitle], .configuration, values,
        status: fault == nil ? .ok : .unprocessableContent), for: visit)
  }

  private static func decision(_ proposal: Proposal, _ texts: Texts) -> String {
    let key: TextKey =
      switch proposal.decision {
      case .approved where proposal.isOutcomeUnknown: .changeApprovedUnknown
      case .approved: .configurationApproved
      case .withdrawn: .changeWithdrawnShort
      default: .configurationRejected
      }
    return texts[key, proposal.decidedBy ?? ""]
  }

  /// The number of open proposals that `account` can approve, for the start page.
  func waiting(for account: Account) async throws -> Int {
    guard account.role.rights.contains(.changeConfiguration) else { return 0 }
    let independent = Set(
      try await accounts.all().filter(account.isIndependent).map(\.name))
    return try await proposals.open().count { independent.contains($0.proposedBy) }
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
    let message: String
  }

  private func change(_ visit: Visit, _ form: Form) async throws -> Change {
    let current = try await authority.remoteConfiguration()
    guard !Self.hasFields(form) || form[Self.versionField] == "\(current.version)" else {
      throw Fault(message: visit.texts[.configurationVersion, "\(current.version)"])
    }
    let document = try document(form, current, visit.texts)
    guard document.utf8.count <= ConsoleLimit.configurationBytesMax else {
      throw PageRefusal.tooLarge
    }
    var new: RemoteConfiguration
    do throws(ConfigurationDocument.Fault) {
      new = try ConfigurationDocument.configuration(document)
    } catch {
      throw Fault(message: visit.texts[.configurationInvalid, visit.texts.sentence(error.message)])
    }
    // Otherwise it would undo a change that was approved meanwhile.
    guard new.version == current.version else {
      throw Fault(message: visit.texts[.configurationVersion, "\(current.version)"])
    }
    guard new != current else { throw Fault(message: visit.texts[.configurationSame]) }
    // Phones reject a version that is not higher.
    new.version = current.version + 1
    guard PlainText.isReason(form["reason"]) else {
      throw Fault(
        message: visit.texts[.changeNoReason, "\(ConsoleLimit.reasonCharactersMax)"])
    }
    return Change(current: current, new: new, reason: form["reason"])
  }

  /// The field with the version that the labelled fields were filled from.
  private static let versionField = "version"

  /// True for the form with labelled fields.
  private static func hasFields(_ form: Form) -> Bool { form["as"] == "fields" }

  private func document(
    _ form: Form, _ current: RemoteConfiguration, _ texts: Texts
  ) throws -> String {
    guard Self.hasFields(form) else { return form["document"] }
    do { return try ConfigurationFields.document(form, replacing: current) } catch let fault
      as ConfigurationFields.Fault
    {
      throw Fault(message: fault.text(texts))
    }
  }

  /// The change of a form, or the page with its fault.
  private func withChange(
    _ visit: Visit, _ form: Form, _ work: (Change) async throws -> Response
  ) async throws -> Response {
    let change: Change
    do {
      change = try await self.change(visit, form)
    } catch let fault as Fault {
      return try await show(visit, typed: form, fault: fault.message)
    }
    return try await work(change)
  }

  private func preview(_ visit: Visit, _ form: Form) async throws -> Response {
    try await withChange(visit, form) { change in
      try await effect(of: change, isProposed: false, visit)
    }
  }

  /// The effect of an open proposal, for the person who decides.
  private func showEffect(_ visit: Visit) async throws -> Response {
    guard let id = Int64(visit.parameter("id")), let proposal = try await proposals.proposal(id),
      proposal.decision == nil
    else { throw PageRefusal.missing }
    let new = try JSONDecoder().decode(
      RemoteConfiguration.self, from: Data(proposal.document.utf8))
    let change = Change(
      current: try await authority.remoteConfiguration(), new: new, reason: proposal.reason)
    return try await effect(of: change, isProposed: true, visit)
  }

  private func effect(
    of change: Change, isProposed: Bool, _ visit: Visit
  ) async throws -> Response {
    let old = try ConfigurationDocument.text(of: change.current)
    let new = try ConfigurationDocument.text(of: change.new)
    // The form has the version that the change was made from.
    var form = change.new
    form.version = change.current.version
    var values: [String: Any] = [
      "document": try ConfigurationDocument.text(of: form), "reason": change.reason,
      "changes": ChangedLines.text(from: old, to: new), "isProposed": isProposed,
      "reasonMax": ConsoleLimit.reasonCharactersMax,
    ]
    do throws(AuthorityFailure) {
      let effect = try await authority.effect(of: change.new, replacing: change.current)
      values["sources"] = ConfigurationEffectTable.values(of: effect, visit.texts)
      if effect.recorded == nil { values["noRecording"] = true }
    } catch {
      values["noEffect"] = PageRefusal(error).words(visit.texts).text
    }
    return pages.renderer.response(
      Page(visit.texts[.configurationPreviewTitle], .preview, values), for: visit)
  }

  private func propose(_ visit: Visit, _ form: Form) async throws -> Response {
    try await withChange(visit, form) { change in
      let draft = ProposalStore.Draft(
        document: try ConfigurationDocument.text(of: change.new),
        replaces: change.current.version, reason: change.reason)
      let addition = try await proposals.add(
        draft, by: visit.account, openMax: ConsoleLimit.openProposalsMax)
      if case .tooMany(let count) = addition {
        return try await show(
          visit, typed: form, fault: visit.texts[.configurationTooMany, "\(count)"])
      }
      return try await show(visit, notice: .configurationProposed)
    }
  }

  // MARK: - The approval

  private func approve(_ visit: Visit) async throws -> Response {
    let actor = try visit.account
    guard let id = Int64(visit.parameter("id")), let proposal = try await proposals.proposal(id)
    else { throw PageRefusal.missing }
    guard proposal.proposedBy != actor.name else {
      return try await show(visit, fault: visit.texts[.configurationOwn])
    }
    let current = try await authority.remoteConfiguration()
    guard proposal.replaces == current.version else {
      return try await show(visit, fault: visit.texts[.configurationStale])
    }
    let configuration = try JSONDecoder().decode(
      RemoteConfiguration.self, from: Data(proposal.document.utf8))
    // Not a child task: a browser that goes away does not stop it between the decision and its outcome.
    return try await Task {
      switch try await proposals.decide(id, .approved, by: actor) {
      case .notOpen, .concernsActor, .altered: throw PageRefusal.missing
      case .notIndependent:
        return try await show(visit, fault: visit.texts[.configurationRelated])
      case .decided: return try await replace(configuration, as: proposal, by: actor, visit)
      }
    }.value
  }

  /// Puts an approved configuration in force, or opens its proposal again.
  private func replace(
    _ configuration: RemoteConfiguration, as proposal: Proposal, by actor: Account,
    _ visit: Visit
  ) async throws -> Response {
    do throws(AuthorityFailure) {
      try await authority.replace(configuration, ifInForce: proposal.replaces)
    } catch {
      // The server may have stored the configuration despite the error.
      let inForce = try? await authority.remoteConfiguration()
      guard inForce != configuration else {
        try await proposals.complete(proposal.id)
        return try await show(visit, notice: .configurationDone)
      }
      try await proposals.reopen(proposal.id, by: actor.name)
      guard error == .changed else { throw error }
      return try await show(visit, fault: visit.texts[.configurationStale])
    }
    try await proposals.complete(proposal.id)
    return try await show(visit, notice: .configurationDone)
  }
}

/// The templates of the remote configuration.
enum ConfigurationTemplates {
  static let configuration = """
    <h1>{{t.configurationTitle}}</h1>
    <p class="lead">{{t.configurationLead}}</p>
    \(LayoutTemplate.notices)
    <h2>{{t.configurationOpen}}</h2>
    {{#hasOpen}}
    {{#open}}
    <section class="card" aria-label="{{by}}">
    <p><strong>{{by}}</strong></p>
    <p>{{reason}}</p>
    <h3>{{t.configurationChanges}}</h3>
    <pre class="changes">{{changes}}</pre>
    {{#isStale}}<p class="fault">{{t.configurationStale}}</p>{{/isStale}}
    {{#isOwn}}<p>{{t.configurationOwn}}</p>{{/isOwn}}
    {{#isRelated}}<p>{{t.configurationRelated}}</p>{{/isRelated}}
    <div class="actions">
    <a class="button" id="effect-{{id}}" href="/configuration/{{id}}">{{t.configurationPreviewTitle}}</a>
    {{#canApprove}}
    <form method="post" action="/configuration/{{id}}/approve">\(LayoutTemplate.token)
    <button id="approve-{{id}}" class="primary">{{t.configurationApprove}}</button></form>
    {{/canApprove}}
    <form method="post" action="/configuration/{{id}}/reject">\(LayoutTemplate.token)
    <button id="reject-{{id}}">{{t.configurationReject}}</button></form>
    </div>
    </section>
    {{/open}}
    {{/hasOpen}}
    {{^hasOpen}}<p>{{t.configurationNoOpen}}</p>{{/hasOpen}}
    <form method="post" action="/configuration/preview" class="card" aria-labelledby="edit-title">
    <h2 id="edit-title">{{current}}</h2>
    \(LayoutTemplate.token)
    {{#isJSON}}
    <p><a id="as-fields" href="/configuration">{{t.configurationAsFields}}</a></p>
    <label for="document">{{t.configurationDocument}}</label>
    <textarea id="document" name="document" rows="24" spellcheck="false">{{document}}</textarea>
    {{/isJSON}}
    {{^isJSON}}
    <p><a id="as-json" href="/configuration?as=json">{{t.configurationAsJSON}}</a></p>
    <input type="hidden" name="as" value="fields"><input type="hidden" name="version" value="{{version}}">
    {{#groups}}
    <fieldset><legend>{{title}}</legend>
    <p class="help">{{help}}</p>
    <div class="numbers{{#isTable}} table{{/isTable}}">
    {{#fields}}<div><label for="{{name}}">{{label}}</label>
    <input id="{{name}}" name="{{name}}" type="number" min="{{least}}" max="{{most}}" step="1" required\
     value="{{value}}">
    <span class="unit">{{unit}}</span></div>{{/fields}}
    </div></fieldset>
    {{/groups}}
    {{/isJSON}}
    <label for="reason">{{t.configurationReason}}</label>
    <textarea id="reason" name="reason" rows="2" required maxlength="{{reasonMax}}">{{reason}}</textarea>
    <button id="preview" class="primary">{{t.configurationPreview}}</button>
    </form>
    {{#hasHistory}}
    <h2>{{t.configurationHistory}}</h2>
    \(LayoutTemplate.wide("history-caption"))
    <table id="history"><caption id="history-caption">{{t.configurationHistoryCaption}}. {{t.zone}}</caption>
    <thead><tr><th scope="col">{{t.time}}</th><th scope="col">{{t.configurationReason}}</th>
    <th scope="col">{{t.configurationDecision}}</th></tr></thead>
    <tbody>
    {{#history}}<tr><td class="time">{{time}}</td><td>{{by}}<br>{{reason}}</td><td>{{decision}}</td></tr>{{/history}}
    </tbody></table></div>
    {{/hasHistory}}
    """

  static let preview = """
    <h1>{{t.configurationPreviewTitle}}</h1>
    <p class="lead">{{t.configurationPreviewLead}}</p>
    {{#sources}}
    <h2>{{name}}</h2>
    <p>{{lead}}</p>
    {{#versions}}
    <h3>{{name}}</h3>
    <p><strong id="notices-{{id}}">{{notices}}</strong></p>
    <p id="changed-{{id}}">{{changed}}</p>
    \(LayoutTemplate.wide("effect-{{id}}-caption"))
    <table id="effect-{{id}}">\
    <caption id="effect-{{id}}-caption">{{caption}}</caption>
    <thead><tr><th scope="col">{{t.configurationCounted}}</th><th scope="col">{{t.configurationNone}}</th>
    <th scope="col">{{t.configurationLow}}</th><th scope="col">{{t.configurationMedium}}</th>
    <th scope="col">{{t.configurationHigh}}</th></tr></thead>
    <tbody>
    {{#rows}}<tr><th scope="row">{{name}}</th><td>{{none}}</td><td>{{low}}</td><td>{{medium}}</td>\
    <td>{{high}}</td></tr>{{/rows}}
    </tbody></table></div>
    {{/versions}}
    {{/sources}}
    {{#noRecording}}<p class="help" id="no-recording">{{t.configurationNoRecording}}</p>{{/noRecording}}
    {{#noEffect}}<p class="help">{{noEffect}}</p>{{/noEffect}}
    <h2>{{t.configurationChanges}}</h2>
    <pre class="changes" id="changes">{{changes}}</pre>
    {{#isProposed}}<p><a class="button" href="/configuration">{{t.back}}</a></p>{{/isProposed}}
    {{^isProposed}}
    <form method="post" action="/configuration/propose" class="card">
    \(LayoutTemplate.token)
    <input type="hidden" name="document" value="{{document}}">
    <label for="reason">{{t.configurationReason}}</label>
    <textarea id="reason" name="reason" rows="2" required maxlength="{{reasonMax}}">{{reason}}</textarea>
    <div class="actions"><button id="propose" class="primary">{{t.configurationPropose}}</button>
    <a class="button" href="/configuration">{{t.back}}</a></div>
    </form>
    {{/isProposed}}
    """
}
