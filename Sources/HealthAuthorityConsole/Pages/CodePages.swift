// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QRCodes
import QuietHTTP
import VerificationAPI
import World

/// The pages on which one code is issued, looked up and ended.
struct CodePages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let actions: AuditedActions
  let issuedCodes: IssuedCodeStore
  /// Nil if there is no page that opens the app.
  let link: CodeLink?
  let sendsSMS: Bool
  let clock: any WallClock
  let randomness: any Randomness

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .issueCodes)
    pages.get(router, "/codes/new", access) { visit in
      await form(visit, replacing: try await replaced(visit.query("replaces") ?? "", visit))
    }
    pages.post(router, "/codes", access, issue)
    pages.get(router, "/codes/status", access) { status($0, [:]) }
    pages.post(router, "/codes/status", access, lookUp)
    pages.post(router, "/codes/expire", access, expire)
    pages.post(router, "/codes/free-phone", access, freePhone)
  }

  // MARK: - Issue

  /// The code that a new one replaces; nil if the account has not issued it.
  private func replaced(_ text: String, _ visit: Visit) async throws -> IssuedCodeStore.Entry? {
    guard let uuid = UUID(uuidString: text) else { return nil }
    return try await issuedCodes.code(uuid, of: visit.account)
  }

  private func form(
    _ visit: Visit, _ typed: Form? = nil, replacing replaced: IssuedCodeStore.Entry? = nil,
    fault: String? = nil
  ) async -> Response {
    let now = clock.now
    // Without the labels, the server uses its default text.
    let templates = sendsSMS ? (try? await authority.codeRules().smsTemplates) ?? [] : []
    var values: [String: Any] = [
      "uuid": UUID(randomness: randomness).text, "sendsSMS": sendsSMS,
      "today": visit.texts.times.day(now),
      "firstDay": visit.texts.times.day(now, offset: -ConsoleLimit.symptomAgeDaysMax),
    ]
    if let fault { values["fault"] = fault }
    values["isLikely"] =
      CodeRequest.TestType.likely.rawValue == typed?["test"] ?? replaced?.test.rawValue
    values["symptoms"] = typed.flatMap { CalendarText.day($0["symptoms"]) } ?? ""
    values["phone"] = typed?["phone"] ?? ""
    values["hasTemplates"] = templates.count > 1
    values["templates"] = templates.map { label in
      [
        "label": label, "title": visit.texts.sentence(label),
        "isChosen": label == typed?["template"],
      ] as [String: Any]
    }
    if let replaced { values["replaced"] = replaced.uuid.text }
    return pages.renderer.response(
      Page(
        visit.texts[.issueTitle], .issue, values, status: fault == nil ? .ok : .unprocessableContent
      ),
      for: visit)
  }

  private func issue(_ visit: Visit, _ form: Form) async throws -> Response {
    guard let uuid = UUID(uuidString: form["uuid"]),
      let test = CodeRequest.TestType(rawValue: form["test"])
    else { throw PageRefusal.malformed }
    let replaced = try await replaced(form["replaces"], visit)
    func refused(_ fault: String) async -> Response {
      await self.form(visit, form, replacing: replaced, fault: fault)
    }
    guard let symptoms = CalendarText.day(form["symptoms"]) else {
      return await refused(visit.texts[.badDate])
    }
    guard let phone = PhoneText.international(sendsSMS ? form["phone"] : "") else {
      return await refused(visit.texts[.refusalPhone])
    }
    var request = CodeRequest(
      uuid: uuid, testType: test, symptomDate: symptoms.isEmpty ? nil : symptoms,
      minutesAheadOfUTC: visit.texts.times.minutesAheadOfUTC(at: clock.now),
      phone: phone.isEmpty ? nil : phone)
    request.smsTemplate = form["template"].isEmpty ? nil : form["template"]
    request.official = try visit.account.name
    do {
      let issued = try await issue(request, visit)
      let ending = try await end(replaced, visit)
      return shown(issued, ending, isSent: request.phone != nil, visit)
    } catch AuthorityFailure.taken {
      return issuedBefore(visit)
    } catch AuthorityFailure.refused(let message) {
      return await refused(visit.texts.sentence(message))
    } catch AuthorityFailure.notIssued(let failure) {
      return await refused(visit.texts.sentence(failure))
    }
  }

  /// Issues a code and stores its number first, so that a code whose response is lost is found.
  private func issue(_ request: CodeRequest, _ visit: Visit) async throws -> IssuedCode {
    let account = try visit.account
    let stored = try await issuedCodes.add([request], by: account)
    do {
      return try await actions.perform(
        AuditEvent(
          account.name, .codeIssued, request.uuid.text, detail: request.testType.rawValue)
      ) { () throws(AuthorityFailure) in try await authority.issue(request) }
    } catch let failure as AuthorityFailure where failure.isRefusalOfCode {
      try await issuedCodes.remove(stored)
      throw failure
    }
  }

  /// Ends a code that was replaced.
  ///
  /// - Returns: The text about it for the page of the new code; nil if there is none.
  private func end(
    _ replaced: IssuedCodeStore.Entry?, _ visit: Visit
  ) async throws -> TextKey? {
    guard let replaced else { return nil }
    do {
      _ = try await actions.perform(
        AuditEvent(visit.account.name, .codeExpired, replaced.uuid.text)
      ) { () throws(AuthorityFailure) in try await authority.expire(code: replaced.uuid) }
      return .issuedCodesReplaced
    } catch is AuthorityFailure {
      // The new code is shown only now.
      return .issuedCodesNotReplaced
    }
  }

  /// - Parameter isSent: True if the verification server has sent an SMS.
  private func shown(
    _ issued: IssuedCode, _ ending: TextKey?, isSent: Bool, _ visit: Visit
  ) -> Response {
    let texts = visit.texts
    let sms = texts[.issuedSMSText, issued.code, visit.time(issued.expiresAt)]
    let address = link?.address(code: issued.code)
    let picture = QRCode(address ?? issued.code).map {
      Picture.svg(of: $0, title: texts[.issuedPicture])
    }
    var values: [String: Any] = [
      "code": issued.grouped, "uuid": issued.uuid.text, "sms": sms, "smsLink": CodeLink.sms(sms),
      "expires": texts[.issuedExpires, visit.time(issued.expiresAt)], "picture": picture ?? "",
    ]
    if let address { values["link"] = address }
    if let ending { values["ending"] = texts[ending] }
    values["isSent"] = isSent
    return pages.renderer.response(Page(texts[.issuedTitle], .issued, values), for: visit)
  }

  private func issuedBefore(_ visit: Visit) -> Response {
    let (title, text) = (visit.texts[.issuedAgainTitle], visit.texts[.issuedAgainText])
    return pages.renderer.response(
      Page(title, .message, ["title": title, "text": text, "home": true], status: .conflict),
      for: visit)
  }

  // MARK: - Status

  private func status(
    _ visit: Visit, _ values: [String: Any], status: HTTPResponse.Status = .ok
  ) -> Response {
    pages.renderer.response(
      Page(visit.texts[.statusTitle], .codeStatus, values, status: status), for: visit)
  }

  private func lookUp(_ visit: Visit, _ form: Form) async throws -> Response {
    try await show(visit, form) { uuid throws(AuthorityFailure) in
      try await authority.state(ofCode: uuid)
    }
  }

  private func expire(_ visit: Visit, _ form: Form) async throws -> Response {
    try await show(visit, form, .codeExpired) { uuid throws(AuthorityFailure) in
      try await authority.expire(code: uuid)
    }
  }

  private func show(
    _ visit: Visit, _ form: Form, _ action: AuditAction = .codeLookedUp,
    _ work: (UUID) async throws(AuthorityFailure) -> CodeState
  ) async throws -> Response {
    guard let uuid = UUID(uuidString: form["uuid"]) else {
      return status(
        visit, ["uuid": form["uuid"], "fault": visit.texts[.statusBad]],
        status: .unprocessableContent)
    }
    let state: CodeState
    do {
      state = try await actions.perform(AuditEvent(visit.account.name, action, uuid.text)) {
        () throws(AuthorityFailure) in try await work(uuid)
      }
    } catch AuthorityFailure.notFound {
      return status(
        visit, ["uuid": uuid.text, "fault": visit.texts[.errorMissingTitle]], status: .notFound)
    }
    let isOver = state.expiresAt < clock.now
    let text =
      state.isUsed
      ? visit.texts[.statusUsed]
      : visit.texts[isOver ? .statusOver : .statusUnused, visit.time(state.expiresAt)]
    var values: [String: Any] = [
      "uuid": uuid.text, "state": text, "canExpire": !state.isUsed && !isOver,
    ]
    if action == .codeExpired { values["notice"] = visit.texts[.statusExpired] }
    return status(visit, values)
  }
}

extension CodePages {
  /// The audit log has no number, because it would tell who reported.
  private func freePhone(_ visit: Visit, _ form: Form) async throws -> Response {
    func refused(_ fault: String) -> Response {
      status(
        visit, ["phoneFault": fault, "phone": form["phone"]], status: .unprocessableContent)
    }
    guard let phone = PhoneText.international(form["phone"]), !phone.isEmpty else {
      return refused(visit.texts[.freePhoneBad])
    }
    do {
      try await actions.perform(AuditEvent(visit.account.name, .phoneFreed, "")) {
        () throws(AuthorityFailure) in try await authority.free(phone: phone)
      }
    } catch AuthorityFailure.notIssued(let failure) {
      let isOff = failure.errorCode == .unsupportedTestType
      return refused(isOff ? visit.texts[.freePhoneOff] : visit.texts.sentence(failure))
    }
    return status(visit, ["phoneNotice": visit.texts[.freePhoneDone]])
  }
}

/// The templates of the pages about one code.
enum CodeTemplates {
  static let issue = """
    <h1>{{t.issueTitle}}</h1>
    <p class="lead">{{t.issueLead}}</p>
    \(LayoutTemplate.notices)
    <form method="post" action="/codes" class="card">
    \(LayoutTemplate.token)
    <input type="hidden" name="uuid" value="{{uuid}}">
    {{#replaced}}<input type="hidden" name="replaces" value="{{replaced}}">
    <p class="notice" id="replaces">{{t.issuedCodesReplaceHelp}} <code>{{replaced}}</code></p>{{/replaced}}
    <fieldset><legend>{{t.issueTest}}</legend>
    <label class="choice"><input type="radio" name="test" value="confirmed"\
    {{^isLikely}} checked{{/isLikely}}> {{t.issueConfirmed}}</label>
    <label class="choice"><input type="radio" name="test" value="likely"\
    {{#isLikely}} checked{{/isLikely}}> {{t.issueLikely}}</label>
    </fieldset>
    <label for="symptoms">{{t.issueSymptoms}}</label>
    <input id="symptoms" name="symptoms" type="date" min="{{firstDay}}" max="{{today}}" value="{{symptoms}}">
    {{#sendsSMS}}
    <label for="phone">{{t.issuePhone}}</label>
    <input id="phone" name="phone" type="tel" autocomplete="off" value="{{phone}}" aria-describedby="phone-help">
    <p class="help" id="phone-help">{{t.issuePhoneHelp}}</p>
    {{#hasTemplates}}
    <label for="template">{{t.issueTemplate}}</label>
    <select id="template" name="template">
    {{#templates}}<option value="{{label}}"{{#isChosen}} selected{{/isChosen}}>{{title}}</option>{{/templates}}
    </select>
    {{/hasTemplates}}
    {{/sendsSMS}}
    <button id="issue" class="primary">{{t.issueButton}}</button>
    </form>
    """

  static let issued = """
    <h1>{{t.issuedTitle}}</h1>
    <p class="lead">{{t.issuedLead}}</p>
    <section class="card issued" aria-label="{{t.issuedTitle}}">
    <p class="big-code" id="issued-code">{{code}}</p>
    <p id="expires">{{expires}}</p>
    {{{picture}}}
    </section>
    {{#isSent}}<p class="notice" role="status" id="sent">{{t.issuedSent}}</p>{{/isSent}}
    {{#ending}}<p class="notice" role="status" id="ending">{{ending}}</p>{{/ending}}
    <p class="notice">{{t.shownOnce}}</p>
    {{#link}}
    <h2>{{t.issuedLink}}</h2>
    <p class="secret"><a id="app-link" href="{{link}}">{{link}}</a></p>
    {{/link}}
    <h2>{{t.issuedSMS}}</h2>
    <p class="secret" id="sms">{{sms}}</p>
    <p><a class="button" href="{{smsLink}}">{{t.issuedSMSOpen}}</a></p>
    <h2>{{t.issuedHandle}}</h2>
    <p><code id="uuid">{{uuid}}</code></p>
    <p class="help">{{t.issuedHandleHelp}}</p>
    <p><a class="button primary" id="next" href="/codes/new">{{t.issuedNext}}</a></p>
    """

  static let status = """
    <h1>{{t.statusTitle}}</h1>
    <p class="lead">{{t.statusLead}}</p>
    \(LayoutTemplate.notices)
    <form method="post" action="/codes/status" class="card">
    \(LayoutTemplate.token)
    <label for="uuid">{{t.issuedHandle}}</label>
    <input id="uuid" name="uuid" type="text" required autocomplete="off" spellcheck="false" class="code"\
     value="{{uuid}}">
    <button id="look-up" class="primary">{{t.statusButton}}</button>
    </form>
    {{#state}}
    <section class="card" aria-label="{{t.status}}">
    <p role="status" id="state">{{state}}</p>
    {{#canExpire}}
    <form method="post" action="/codes/expire">\(LayoutTemplate.token)
    <input type="hidden" name="uuid" value="{{uuid}}">
    <button id="expire" class="danger">{{t.statusExpire}}</button></form>
    {{/canExpire}}
    </section>
    {{/state}}
    <h2 id="free-title">{{t.freePhoneTitle}}</h2>
    <p>{{t.freePhoneLead}}</p>
    {{#phoneFault}}<p class="fault" role="alert" id="phone-fault">{{phoneFault}}</p>{{/phoneFault}}
    {{#phoneNotice}}<p class="notice" role="status" id="phone-notice">{{phoneNotice}}</p>{{/phoneNotice}}
    <form method="post" action="/codes/free-phone" class="card" aria-labelledby="free-title">
    \(LayoutTemplate.token)
    <label for="phone">{{t.freePhoneNumber}}</label>
    <input id="phone" name="phone" type="tel" required autocomplete="off" value="{{phone}}">
    <button id="free-phone">{{t.freePhoneButton}}</button>
    </form>
    """
}
