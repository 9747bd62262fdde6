// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP

/// Signing keys, API keys, authorities and apps.
struct KeyPages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let changes: ChangePages

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .administerKeys)
    pages.get(router, "/keys", access) { try await show($0) }
    pages.post(router, "/keys/rotate", access) { visit, form in
      guard let server = SigningServer(rawValue: form["server"]) else {
        throw PageRefusal.malformed
      }
      return try await ask(.rotateSigningKey(server: server), visit)
    }
    pages.post(router, "/keys/api", access) { visit, form in
      guard let kind = APIKeyFacts.Kind(rawValue: form["kind"]) else { throw PageRefusal.malformed }
      return try await ask(.addAPIKey(name: form["name"], kind: kind), visit)
    }
    pages.post(router, "/keys/api/revoke", access) { visit, form in
      try await ask(.revokeAPIKey(id: form["id"]), visit)
    }
    addRegistry(to: router, access)
  }

  private func addRegistry(to router: Router<QuietContext>, _ access: PageRouter.Access) {
    pages.post(router, "/keys/authorities", access) { visit, form in
      try await ask(
        .addAuthority(
          issuer: form["issuer"], audience: form["audience"], keyID: form["key-id"],
          publicKeyPEM: form["pem"] + "\n"), visit)
    }
    pages.post(router, "/keys/authorities/remove", access) { visit, form in
      try await ask(.removeAuthority(issuer: form["issuer"]), visit)
    }
    pages.post(router, "/keys/authorities/withdraw-key", access) { visit, form in
      try await ask(.withdrawAuthorityKey(keyID: form["key-id"], issuer: form["issuer"]), visit)
    }
    pages.post(router, "/keys/apps", access) { visit, form in
      func list(_ name: String) -> [String] {
        form[name].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      }
      return try await ask(
        .addApp(id: form["app"], regions: list("regions"), authorities: list("authorities")),
        visit)
    }
    pages.post(router, "/keys/apps/remove", access) { visit, form in
      try await ask(.removeApp(id: form["app"]), visit)
    }
  }

  private func show(_ visit: Visit, fault: String? = nil) async throws -> Response {
    let texts = visit.texts
    var remarks: Set<String> = []
    var values: [String: Any] = ["servers": try await servers(visit, &remarks)]
    values["apiKeys"] = try await rows(&remarks) { () throws(AuthorityFailure) in
      try await authority.apiKeys()
    }.map { key -> [String: Any] in
      [
        "id": key.id, "name": key.name, "kind": key.kind, "isActive": key.revokedAt == nil,
        "state": texts[key.revokedAt == nil ? .keysActive : .keysRevoked],
      ]
    }
    values["authorities"] = try await rows(&remarks) { () throws(AuthorityFailure) in
      try await authority.authorities()
    }.map { authority -> [String: Any] in
      [
        "issuer": authority.issuer, "audience": authority.audience,
        "keyIDs": authority.keyIDs.joined(separator: ", "),
        "withdrawn": authority.withdrawnKeyIDs.isEmpty
          ? "" : texts[.keysWithdrawn, authority.withdrawnKeyIDs.joined(separator: ", ")],
        "isInSettings": authority.isInSettings, "isIgnored": authority.isIgnored,
        "keys": authority.isInSettings
          ? []
          : authority.keyIDs.map { id in
            ["id": id, "issuer": authority.issuer, "withdraw": texts[.keysWithdraw, id]]
          },
      ]
    }
    values["apps"] = try await rows(&remarks) { () throws(AuthorityFailure) in
      try await authority.apps()
    }.map {
      [
        "id": $0.id, "regions": $0.regions.joined(separator: ", "),
        "issuers": $0.authorities.joined(separator: ", "), "isInSettings": $0.isInSettings,
      ]
    }
    if !remarks.isEmpty {
      values["notice"] = remarks.map(texts.sentence).sorted().joined(separator: " ")
    }
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(texts[.keysTitle], .keys, values, status: fault == nil ? .ok : .unprocessableContent),
      for: visit)
  }

  /// The tables of signing keys.
  private func servers(
    _ visit: Visit, _ remarks: inout Set<String>
  ) async throws(AuthorityFailure) -> [[String: Any]] {
    var servers: [[String: Any]] = []
    for server in SigningServer.allCases {
      let name: TextKey = server == .keys ? .keysOfKeys : .keysOfVerification
      let keys = try await rows(&remarks) { () throws(AuthorityFailure) in
        try await authority.signingKeys(of: server)
      }
      servers.append([
        "server": server.rawValue, "caption": visit.texts[.keysSigningCaption, visit.texts[name]],
        "keys": keys.map { key in
          [
            "name": [key.id, key.version ?? ""].joined(separator: " "),
            "from": key.validFrom.map(visit.time) ?? "–",
            "until": key.validThru.map(visit.time) ?? "–",
          ]
        },
      ])
    }
    return servers
  }

  /// The rows of a table. If their server has no data in the folder of this console, adds a remark and returns no rows.
  private func rows<Row>(
    _ remarks: inout Set<String>, _ load: () async throws(AuthorityFailure) -> [Row]
  ) async throws(AuthorityFailure) -> [Row] {
    do { return try await load() } catch {
      guard case .notOffered(let message) = error else { throw error }
      remarks.insert(message)
      return []
    }
  }

  /// The page with the effect of a change, or this page with the reason why it is not possible.
  private func ask(_ change: ConsoleChange, _ visit: Visit) async throws -> Response {
    do { return try await changes.ask(change, visit) } catch AuthorityFailure.refused(let message) {
      return try await show(visit, fault: visit.texts.sentence(message))
    }
  }
}

/// The templates of the pages about keys.
enum KeyTemplates {
  static let keys = """
    <h1>{{t.keysTitle}}</h1>
    \(LayoutTemplate.notices)
    <section class="card" aria-labelledby="signing-title">
    <h2 id="signing-title">{{t.keysSigning}}</h2>
    <p class="help">{{t.keysRotateHelp}}</p>
    {{#servers}}
    \(LayoutTemplate.wide("signing-{{server}}-caption"))
    <table id="signing-{{server}}"><caption id="signing-{{server}}-caption">{{caption}}. {{t.zone}}</caption>
    <thead><tr><th scope="col">{{t.name}}</th><th scope="col">{{t.keysFrom}}</th><th scope="col">{{t.keysUntil}}</th>
    </tr></thead>
    <tbody>
    {{#keys}}
    <tr><th scope="row">{{name}}</th><td class="time">{{from}}</td><td class="time">{{until}}</td></tr>
    {{/keys}}
    </tbody></table></div>
    <form method="post" action="/keys/rotate">\(LayoutTemplate.token)
    <input type="hidden" name="server" value="{{server}}">
    <button id="rotate-{{server}}" aria-label="{{t.keysRotate}}: {{caption}}">{{t.keysRotate}}</button></form>
    {{/servers}}
    </section>
    <section class="card" aria-labelledby="api-title">
    <h2 id="api-title">{{t.keysAPI}}</h2>
    \(LayoutTemplate.wide("api-keys-caption"))
    <table id="api-keys"><caption id="api-keys-caption">{{t.keysAPICaption}}</caption>
    <thead><tr><th scope="col">{{t.keysHolder}}</th><th scope="col">{{t.keysKind}}</th><th scope="col">{{t.status}}</th>
    <th scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#apiKeys}}
    <tr><th scope="row">{{name}} <code>{{id}}</code></th><td>{{kind}}</td><td>{{state}}</td><td>
    {{#isActive}}<form method="post" action="/keys/api/revoke">\(LayoutTemplate.token)
    <input type="hidden" name="id" value="{{id}}">
    <button class="quiet" aria-label="{{t.keysRevoke}}: {{name}}">{{t.keysRevoke}}</button></form>{{/isActive}}
    </td></tr>
    {{/apiKeys}}
    </tbody></table></div>
    <form method="post" action="/keys/api" aria-labelledby="add-api-title">
    <h3 id="add-api-title">{{t.keysAddAPI}}</h3>
    \(LayoutTemplate.token)
    <label for="api-name">{{t.keysHolder}}</label>
    <input id="api-name" name="name" type="text" required maxlength="64" autocomplete="off">
    <fieldset><legend>{{t.keysKind}}</legend>
    <label class="choice"><input type="radio" name="kind" value="device" required> {{t.keysKindDevice}}</label>
    <label class="choice"><input type="radio" name="kind" value="admin" required> {{t.keysKindAdmin}}</label>
    <label class="choice"><input type="radio" name="kind" value="stats" required> {{t.keysKindStats}}</label>
    </fieldset>
    <button id="add-api-key">{{t.keysAdd}}</button>
    </form>
    </section>
    \(authorities)
    \(apps)
    """

  private static let authorities = """
    <section class="card" aria-labelledby="authorities-title">
    <h2 id="authorities-title">{{t.keysAuthorities}}</h2>
    \(LayoutTemplate.wide("authorities-caption"))
    <table id="authorities"><caption id="authorities-caption">{{t.keysAuthoritiesCaption}}</caption>
    <thead><tr><th scope="col">{{t.keysAuthorityIssuer}}</th><th scope="col">{{t.keysAuthorityAudience}}</th>
    <th scope="col">{{t.keysAuthorityKeyID}}</th><th scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#authorities}}
    <tr><th scope="row"><code>{{issuer}}</code></th><td><code>{{audience}}</code></td>
    <td>{{keyIDs}} {{withdrawn}}</td><td>
    {{#isInSettings}}{{t.keysInSettings}}{{/isInSettings}}{{#isIgnored}}{{t.keysIgnored}}{{/isIgnored}}
    {{#keys}}<form method="post" action="/keys/authorities/withdraw-key">\(LayoutTemplate.token)
    <input type="hidden" name="issuer" value="{{issuer}}"><input type="hidden" name="key-id" value="{{id}}">
    <button class="quiet" aria-label="{{withdraw}}: {{issuer}}">{{withdraw}}</button></form>
    {{/keys}}{{^isInSettings}}
    <form method="post" action="/keys/authorities/remove">\(LayoutTemplate.token)
    <input type="hidden" name="issuer" value="{{issuer}}">
    <button class="quiet" aria-label="{{t.keysRemove}}: {{issuer}}">{{t.keysRemove}}</button></form>
    {{/isInSettings}}</td></tr>
    {{/authorities}}
    {{^authorities}}<tr><td colspan="4">{{t.none}}</td></tr>{{/authorities}}
    </tbody></table></div>
    <p class="help">{{t.keysWithdrawHelp}}</p>
    <form method="post" action="/keys/authorities" aria-labelledby="add-authority-title">
    <h3 id="add-authority-title">{{t.keysAddAuthority}}</h3>
    \(LayoutTemplate.token)
    <label for="issuer">{{t.keysAuthorityIssuer}}</label>
    <input id="issuer" name="issuer" type="text" required autocomplete="off">
    <label for="audience">{{t.keysAuthorityAudience}}</label>
    <input id="audience" name="audience" type="text" required autocomplete="off">
    <label for="key-id">{{t.keysAuthorityKeyID}}</label>
    <input id="key-id" name="key-id" type="text" required autocomplete="off">
    <label for="pem">{{t.keysAuthorityPEM}}</label>
    <textarea id="pem" name="pem" rows="5" required spellcheck="false"></textarea>
    <button id="add-authority">{{t.keysAdd}}</button>
    </form>
    </section>
    """

  private static let apps = """
    <section class="card" aria-labelledby="apps-title">
    <h2 id="apps-title">{{t.keysApps}}</h2>
    \(LayoutTemplate.wide("apps-caption"))
    <table id="apps"><caption id="apps-caption">{{t.keysAppsCaption}}</caption>
    <thead><tr><th scope="col">{{t.keysApp}}</th><th scope="col">{{t.keysRegions}}</th>
    <th scope="col">{{t.keysAuthoritiesOfApp}}</th><th scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#apps}}
    <tr><th scope="row"><code>{{id}}</code></th><td>{{regions}}</td><td><code>{{issuers}}</code></td><td>
    {{#isInSettings}}{{t.keysInSettings}}{{/isInSettings}}{{^isInSettings}}
    <form method="post" action="/keys/apps/remove">\(LayoutTemplate.token)
    <input type="hidden" name="app" value="{{id}}">
    <button class="quiet" aria-label="{{t.keysRemove}}: {{id}}">{{t.keysRemove}}</button></form>
    {{/isInSettings}}</td></tr>
    {{/apps}}
    {{^apps}}<tr><td colspan="4">{{t.none}}</td></tr>{{/apps}}
    </tbody></table></div>
    <form method="post" action="/keys/apps" aria-labelledby="add-app-title">
    <h3 id="add-app-title">{{t.keysAddApp}}</h3>
    \(LayoutTemplate.token)
    <label for="app">{{t.keysApp}}</label>
    <input id="app" name="app" type="text" required autocomplete="off">
    <label for="regions">{{t.keysRegions}}</label>
    <input id="regions" name="regions" type="text" required autocomplete="off">
    <label for="app-authorities">{{t.keysAuthoritiesOfApp}}</label>
    <input id="app-authorities" name="authorities" type="text" required autocomplete="off">
    <button id="add-app">{{t.keysAdd}}</button>
    </form>
    </section>
    """

  static let secret = """
    <h1>{{title}}</h1>
    <p class="notice">{{t.shownOnce}}</p>
    <p class="secret" id="secret">{{secret}}</p>
    {{#for}}<p>{{for}}</p>{{/for}}
    <p><a class="button" href="/keys">{{t.back}}</a></p>
    """
}
