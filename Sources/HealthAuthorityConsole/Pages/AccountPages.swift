// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QRCodes
import QuietHTTP
import World

/// The pages with which administrators manage accounts, and the page of a link for a new password.
struct AccountPages: Sendable {
  let pages: PageRouter
  let accounts: AccountStore
  let links: AccountLinks
  let passwords: PasswordChecks
  /// Counts failed tries of links by address.
  let failures: FailureBudget
  let changes: ChangePages

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .administerAccounts)
    pages.get(router, "/accounts", access) { try await list($0) }
    pages.post(router, "/accounts", access, addAccount)
    pages.post(router, "/accounts/:id/link", access) { visit, _ in
      let account = try await account(visit)
      // A link replaces password and code generator: a thief of the session would take the account over.
      guard account.id != (try visit.account.id) else {
        throw PageRefusal.refused(visit.texts[.linkOwn])
      }
      return try await ask(.makeLink(account: account.name), visit)
    }
    pages.post(router, "/accounts/:id/disable", access) { visit, _ in
      try await ask(
        .disableAccount(account: try await account(visit).name), visit, status: .conflict)
    }
    pages.post(router, "/accounts/:id/enable", access) { visit, _ in
      try await ask(
        .enableAccount(account: try await account(visit).name), visit, status: .conflict)
    }
    pages.get(router, "/start/:token", .everyone) { visit in
      try await start(visit, try await invited(visit))
    }
    pages.post(router, "/start/:token", .everyone, finish)
  }

  private func list(
    _ visit: Visit, fault: String? = nil, typedName: String = "",
    status: HTTPResponse.Status = .ok
  ) async throws -> Response {
    let texts = visit.texts
    var values: [String: Any] = [
      "typedName": typedName,
      "accounts": try await accounts.all().map { account -> [String: Any] in
        let state: TextKey =
          account.isDisabled
          ? .accountDisabled : account.isComplete ? .accountActive : .accountNew
        return [
          "id": account.id, "name": account.name, "role": texts[account.role.textKey],
          "state": texts[state], "isEnabled": !account.isDisabled,
        ]
      },
      "roles": Role.allCases.map { ["value": $0.rawValue, "title": texts[$0.textKey]] },
    ]
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(texts[.accountsTitle], .accounts, values, status: status), for: visit)
  }

  private func addAccount(_ visit: Visit, _ form: Form) async throws -> Response {
    guard let role = Role(rawValue: form["role"]) else { throw PageRefusal.malformed }
    let name = AccountName.checked(form["name"], ConsoleLimit.nameCharacters) ?? form["name"]
    return try await ask(.addAccount(name: name, role: role), visit, typedName: form["name"])
  }

  /// The page with the effect of a change, or the list with the reason why it is not possible.
  private func ask(
    _ change: ConsoleChange, _ visit: Visit, typedName: String = "",
    status: HTTPResponse.Status = .unprocessableContent
  ) async throws -> Response {
    do { return try await changes.ask(change, visit) } catch AuthorityFailure.refused(let message) {
      return try await list(
        visit, fault: visit.texts.sentence(message), typedName: typedName, status: status)
    }
  }

  private func account(_ visit: Visit) async throws -> Account {
    guard let id = Int64(visit.parameter("id")), let account = try await accounts.account(id: id)
    else { throw PageRefusal.missing }
    return account
  }

  // MARK: - Links

  /// The account of the link in the path; nil if the link does not work.
  private func invited(_ visit: Visit) async throws -> Account? {
    try await failures.attempt(from: visit.context) { () -> AttemptResult<Account?> in
      let account = try await links.account(of: visit.parameter("token"))
      return account == nil ? .failed(nil) : .succeeded(account)
    }
  }

  private func start(
    _ visit: Visit, _ account: Account?, fault: String? = nil
  ) async throws -> Response {
    let texts = visit.texts
    guard let account else {
      return pages.renderer.response(
        Page(
          texts[.startGoneTitle], .message,
          ["title": texts[.startGoneTitle], "text": texts[.startGoneText], "signIn": true],
          status: .notFound), for: visit)
    }
    let generator = links.generator(for: visit.parameter("token"))
    let address = generator.address(account: account.name, issuer: "Firebreak")
    var values: [String: Any] = [
      "lead": texts[.startLead, account.name], "name": account.name, "key": generator.typedSecret,
      "least": ConsoleLimit.passwordCharactersMin,
      "passwordLabel": texts[.startPassword, "\(ConsoleLimit.passwordCharactersMin)"],
      "picture": QRCode(address).map { Picture.svg(of: $0, title: texts[.startPicture]) } ?? "",
    ]
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(texts[.startTitle], .start, values, status: fault == nil ? .ok : .unprocessableContent),
      for: visit)
  }

  private func finish(_ visit: Visit, _ form: Form) async throws -> Response {
    guard let account = try await invited(visit) else { return try await start(visit, nil) }
    let password = form.exact("password")
    guard password.count >= ConsoleLimit.passwordCharactersMin,
      password.utf8.count <= ConsoleLimit.passwordBytesMax
    else {
      let fault = visit.texts[.startShort, "\(ConsoleLimit.passwordCharactersMin)"]
      return try await start(visit, account, fault: fault)
    }
    let generator = links.generator(for: visit.parameter("token"))
    let step = generator.step(
      of: form["code"], at: accounts.clock.now.unixSecond, after: 0,
      stepsOff: ConsoleLimit.codeStepsOff)
    guard let step else {
      return try await start(visit, account, fault: visit.texts[.startCodeWrong])
    }
    visit.context.excludeFromLoad()
    let hash: PasswordHash
    do {
      hash = try await passwords.withPlace(isFirst: true) { try await $0.hash(password) }
    } catch is PasswordChecks.Busy {
      let seconds = "\(ConsoleLimit.signInRetrySeconds)"
      return try await start(visit, account, fault: visit.texts[.signInBusy, seconds])
    }
    // The link may have been used or replaced while the password was hashed.
    guard try await links.use(visit.parameter("token"), for: hash, step: step, in: accounts) else {
      return try await start(visit, nil)
    }
    return pages.renderer.response(
      Page(
        visit.texts[.startDoneTitle], .message,
        [
          "title": visit.texts[.startDoneTitle], "text": visit.texts[.startDoneText],
          "signIn": true,
        ]), for: visit)
  }
}

/// The templates of accounts and of links for a new password.
enum AccountTemplates {
  static let accounts = """
    <h1>{{t.accountsTitle}}</h1>
    \(LayoutTemplate.notices)
    \(LayoutTemplate.wide("accounts-caption"))
    <table role="table" id="accounts" class="stack"><caption id="accounts-caption">{{t.accountsCaption}}</caption>
    <thead role="rowgroup"><tr role="row">
    <th role="columnheader" scope="col">{{t.name}}</th>
    <th role="columnheader" scope="col">{{t.accountRole}}</th>
    <th role="columnheader" scope="col">{{t.status}}</th>
    <th role="columnheader" scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#accounts}}
    <tr role="row"><th role="rowheader" scope="row">{{name}}</th>
    <td role="cell" data-label="{{t.accountRole}}">{{role}}</td>
    <td role="cell" data-label="{{t.status}}">{{state}}</td><td role="cell" class="actions">
    {{#isEnabled}}
    <form method="post" action="/accounts/{{id}}/link">\(LayoutTemplate.token)
    <button class="quiet" aria-label="{{t.accountMakeLink}}: {{name}}">{{t.accountMakeLink}}</button></form>
    <form method="post" action="/accounts/{{id}}/disable">\(LayoutTemplate.token)
    <button class="quiet" aria-label="{{t.accountDisable}}: {{name}}">{{t.accountDisable}}</button></form>
    {{/isEnabled}}
    {{^isEnabled}}
    <form method="post" action="/accounts/{{id}}/enable">\(LayoutTemplate.token)
    <button class="quiet" aria-label="{{t.accountEnable}}: {{name}}">{{t.accountEnable}}</button></form>
    {{/isEnabled}}
    </td></tr>
    {{/accounts}}
    </tbody></table></div>
    <form method="post" action="/accounts" class="card" aria-labelledby="add-title">
    <h2 id="add-title">{{t.accountAddTitle}}</h2>
    \(LayoutTemplate.token)
    <label for="name">{{t.name}}</label>
    <input id="name" name="name" type="text" required maxlength="64" autocomplete="off" value="{{typedName}}">
    <fieldset><legend>{{t.accountRole}}</legend>
    {{#roles}}
    <label class="choice"><input type="radio" name="role" value="{{value}}" required> {{title}}</label>
    {{/roles}}
    </fieldset>
    <button id="add-account" class="primary">{{t.accountAddButton}}</button>
    </form>
    <p><a class="button" id="import" href="/accounts/import">{{t.importTitle}}</a></p>
    """

  static let start = """
    <div class="narrow">
    <h1>{{t.startTitle}}</h1>
    <p class="lead">{{lead}}</p>
    {{#fault}}<p class="fault" role="alert" id="fault">{{fault}}</p>{{/fault}}
    <section class="card" aria-labelledby="step-1">
    <h2 id="step-1">1. {{t.startStep1}}</h2>
    <p>{{t.startStep1Text}}</p>
    {{{picture}}}
    <p>{{t.startKey}}: <code id="key">{{key}}</code></p>
    </section>
    <form method="post" class="card" aria-labelledby="step-2">
    <h2 id="step-2">2. {{t.startStep2}}</h2>
    <input type="hidden" name="name" autocomplete="username" value="{{name}}">
    <label for="password">{{passwordLabel}}</label>
    <input id="password" name="password" type="password" autocomplete="new-password" required minlength="{{least}}"\
     aria-describedby="password-help">
    <p class="help" id="password-help">{{t.startPasswordHelp}}</p>
    <label for="code">{{t.signInCode}}</label>
    <input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" required class="code">
    <button id="finish" class="primary">{{t.startButton}}</button>
    </form>
    </div>
    """
}
