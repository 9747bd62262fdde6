// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import TextEncodings
import World

/// The page of the signed-in account, with its passkeys.
struct OwnAccountPages: Sendable {
  let pages: PageRouter
  let passkeys: PasskeyStore
  let challenges: PasskeyChallenges

  private static let nameCharactersMax = 64

  func add(to router: Router<QuietContext>) {
    pages.get(router, "/own", .signedIn) { try await show($0) }
    pages.post(router, "/own/passkeys", .signedIn, addPasskey)
    pages.post(router, "/own/passkeys/remove", .signedIn) { visit, form in
      guard let id = form.bytes("id") else { throw PageRefusal.malformed }
      try await passkeys.remove(id: id, of: visit.account)
      return PageRenderer.redirection(to: "/own")
    }
  }

  private func show(_ visit: Visit, fault: TextKey? = nil) async throws -> Response {
    let account = try visit.account
    let own = try await passkeys.passkeys(of: account)
    var values: [String: Any] = [
      "hasPasskeys": !own.isEmpty,
      "passkeys": own.map {
        [
          "name": $0.name, "added": visit.time($0.createdAt), "id": $0.credential.id.base64URL,
        ]
      },
    ]
    if let ceremony = PasskeyCeremony(origin: visit.origin, limits: .console), isFresh(visit) {
      let challenge = challenges.challenge(
        for: Self.purpose(account), at: passkeys.clock.now.unixSecond)
      values["passkey"] = [
        "challenge": challenge.base64URL, "host": ceremony.relyingPartyID,
        "user": account.handle.base64URL, "accountName": account.name,
        "known": own.map(\.credential.id.base64URL).joined(separator: " "),
      ]
      if visit.request.head.authority.map({ !visit.origin.hasSuffix("//\($0)") }) ?? false {
        values["otherHost"] = visit.texts[.ownPasskeyHost, visit.origin]
      }
    }
    if !isFresh(visit) { values["isOld"] = true }
    if let fault { values["fault"] = visit.texts[.ownPasskeyWrong, visit.texts[fault]] }
    return pages.renderer.response(
      Page(
        visit.texts[.ownTitle], .own, values, status: fault == nil ? .ok : .unprocessableContent),
      for: visit)
  }

  private func addPasskey(_ visit: Visit, _ form: Form) async throws -> Response {
    let account = try visit.account
    guard isFresh(visit) else { return try await show(visit) }
    guard let ceremony = PasskeyCeremony(origin: visit.origin, limits: .console),
      let clientData = form.bytes("client-data"), let attestation = form.bytes("attestation"),
      (1...Self.nameCharactersMax).contains(form["passkey-name"].count)
    else { throw PageRefusal.malformed }
    let now = passkeys.clock.now.unixSecond
    let credential: PasskeyCeremony.Credential
    var challenge: PasskeyChallenges.Challenge?
    do throws(PasskeyRefusal) {
      credential = try ceremony.credential(
        PasskeyCeremony.Registration(clientData: clientData, attestation: attestation),
        accepts: {
          challenge = challenges.checked($0, for: Self.purpose(account), at: now)
          return challenge != nil
        })
    } catch {
      return try await show(visit, fault: error.textKey)
    }
    guard let challenge else { throw PageRefusal.malformed }
    do {
      guard
        try await passkeys.add(
          credential, name: form["passkey-name"], to: account, with: challenge)
      else { return try await show(visit, fault: .passkeyKnown) }
    } catch let refusal as PasskeyRefusal {
      return try await show(visit, fault: refusal.textKey)
    }
    return PageRenderer.redirection(to: "/own")
  }

  private func isFresh(_ visit: Visit) -> Bool {
    visit.session.map { pages.sessions.isFresh($0) } ?? false
  }

  private static func purpose(_ account: Account) -> String { "register \(account.id)" }
}

extension PasskeyRefusal {
  /// The reason for the person at the page.
  fileprivate var textKey: TextKey {
    switch self {
    case .unverifiedUser: .passkeyUnverified
    case .ceremonyMismatch: .passkeyOther
    case .malformed, .unsupportedKey, .badSignature, .copied: .passkeyMalformed
    }
  }
}

/// The template of the page of the own account.
enum OwnAccountTemplates {
  static let own = """
    <h1>{{t.ownTitle}}</h1>
    \(LayoutTemplate.notices)
    <section class="card" aria-labelledby="passkeys-title">
    <h2 id="passkeys-title">{{t.ownPasskeys}}</h2>
    <p>{{t.ownPasskeysLead}}</p>
    {{#hasPasskeys}}
    \(LayoutTemplate.wide("passkeys-caption"))
    <table id="passkeys"><caption id="passkeys-caption">{{t.ownPasskeysCaption}}</caption>
    <thead><tr><th scope="col">{{t.ownPasskeyName}}</th><th scope="col">{{t.ownPasskeyAdded}}</th>
    <th scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#passkeys}}
    <tr><th scope="row">{{name}}</th><td class="time">{{added}}</td><td>
    <form method="post" action="/own/passkeys/remove">\(LayoutTemplate.token)
    <input type="hidden" name="id" value="{{id}}">
    <button class="quiet" aria-label="{{t.ownPasskeyRemove}}: {{name}}">{{t.ownPasskeyRemove}}</button></form>
    </td></tr>
    {{/passkeys}}
    </tbody></table></div>
    {{/hasPasskeys}}
    {{^hasPasskeys}}<p>{{t.ownPasskeyNone}}</p>{{/hasPasskeys}}
    {{#isOld}}<p id="old-session">{{t.ownPasskeyOld}}</p>{{/isOld}}
    {{#passkey}}
    <noscript><p>{{t.ownPasskeyScript}}</p></noscript>
    <form method="post" action="/own/passkeys" hidden data-passkey="create" data-challenge="{{challenge}}"\
     data-host="{{host}}" data-user="{{user}}" data-name="{{accountName}}" data-known="{{known}}"\
     data-console="{{t.console}}">
    \(LayoutTemplate.token)
    <input type="hidden" name="client-data"><input type="hidden" name="attestation">
    <label for="passkey-name">{{t.ownPasskeyName}}</label>
    <input id="passkey-name" name="passkey-name" type="text" required maxlength="64">
    <button id="add-passkey" class="primary">{{t.ownPasskeyAdd}}</button>
    </form>
    <script src="/passkey.js" defer></script>
    {{/passkey}}
    {{#otherHost}}<p class="help">{{otherHost}}</p>{{/otherHost}}
    </section>
    """
}
