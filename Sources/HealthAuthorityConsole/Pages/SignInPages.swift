// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import TextEncodings
import World

/// The sign-in with a password and a code or with a passkey, the sign-out, and the start page.
struct SignInPages: Sendable {
  let pages: PageRouter
  let signIn: SignIn
  let sessions: SessionStore
  let passkeys: PasskeyStore
  let challenges: PasskeyChallenges
  let refusals: RefusedSignIns
  let clock: any WallClock
  /// Counts failed sign-ins by address.
  let failures: FailureBudget

  private static let purpose = "sign-in"

  func add(to router: Router<QuietContext>) {
    pages.get(router, "/sign-in", .everyone) { visit in
      form(visit, next: visit.query("next") ?? "/")
    }
    pages.post(router, "/sign-in", .everyone, withPassword)
    pages.post(router, "/sign-in/passkey", .everyone, withPasskey)
    pages.post(router, "/sign-out", .signedIn, signOut)
    pages.get(router, "/language/:language", .everyone, chooseLanguage)
    pages.get(router, "/style.css", .everyone) { _ in
      PageRenderer.file(PageStyle.sheet, type: "text/css; charset=utf-8")
    }
    pages.get(router, "/passkey.js", .everyone) { _ in
      PageRenderer.file(PasskeyScript.text, type: "text/javascript; charset=utf-8")
    }
  }

  private func form(
    _ visit: Visit, next: String, name: String = "", fault: String? = nil,
    status: HTTPResponse.Status = .ok
  ) -> Response {
    var values: [String: Any] = ["next": Self.local(next), "name": name]
    if let fault { values["fault"] = fault }
    if let ceremony = PasskeyCeremony(origin: visit.origin, limits: .console) {
      values["passkey"] = [
        "challenge": challenges.challenge(for: Self.purpose, at: clock.now.unixSecond)
          .base64URL,
        "host": ceremony.relyingPartyID,
      ]
    }
    return pages.renderer.response(
      Page(visit.texts[.signInTitle], .signIn, values, status: status), for: visit)
  }

  // MARK: - Password

  private func withPassword(_ visit: Visit, _ form: Form) async throws -> Response {
    let (name, next) = (form["name"], form["next"])
    guard form.exact("password").utf8.count <= ConsoleLimit.passwordBytesMax,
      name.count <= ConsoleLimit.nameCharacters.upperBound
    else { throw PageRefusal.malformed }
    // Wrong sign-ins wait for each other, and signed-in officials do not wait for them.
    visit.context.excludeFromLoad()
    do {
      let outcome = try await failures.attempt(from: visit.context) {
        let outcome = try await signIn.attempt(
          name: name, password: form.exact("password"), code: form["code"])
        return if case .signedIn = outcome { .succeeded(outcome) } else { .failed(outcome) }
      }
      return try await response(to: outcome, name: name, next: next, visit)
    } catch is PasswordChecks.Busy {
      return busy(visit, next: next, name: name)
    } catch let refusal as QuietRefusal {
      // The address has used up its failures, and this was one more.
      if case .tooManyAttempts = refusal { try await record(.signInFailed, name, visit) }
      throw refusal
    }
  }

  private func response(
    to outcome: SignIn.Outcome, name: String, next: String, _ visit: Visit
  ) async throws -> Response {
    switch outcome {
    case .signedIn(let account):
      return try await started(account, "password and code", next: next, visit)
    case .wrong:
      try await record(.signInFailed, name, visit)
      return self.form(
        visit, next: next, name: name, fault: visit.texts[.signInWrong], status: .unauthorized)
    case .locked(let seconds):
      try await record(.nameLocked, name, visit)
      var response = self.form(
        visit, next: next, name: name,
        fault: visit.texts[.signInLocked, "\((seconds + 59) / 60)"], status: .tooManyRequests)
      response.headers[.retryAfter] = "\(seconds)"
      return response
    }
  }

  /// Records a refused sign-in with the network that it came from. A name without an account is not recorded: it may be
  /// a password in the wrong field.
  private func record(_ action: AuditAction, _ name: String, _ visit: Visit) async throws {
    let account = try await signIn.accounts.account(named: name)
    try await refusals.record(
      RefusedSignIns.Refusal(
        action: action, account: account?.name ?? "", network: visit.context.networkName))
  }

  private func busy(_ visit: Visit, next: String, name: String) -> Response {
    let seconds = "\(ConsoleLimit.signInRetrySeconds)"
    var response = form(
      visit, next: next, name: name, fault: visit.texts[.signInBusy, seconds],
      status: .serviceUnavailable)
    response.headers[.retryAfter] = seconds
    return response
  }

  // MARK: - Passkey

  private func withPasskey(_ visit: Visit, _ form: Form) async throws -> Response {
    visit.context.excludeFromLoad()
    let account: Account?
    do {
      account = try await failures.attempt(from: visit.context) {
        () -> AttemptResult<Account?> in
        let account = try await self.account(of: form, visit)
        return account == nil ? .failed(nil) : .succeeded(account)
      }
    } catch let refusal as QuietRefusal {
      if case .tooManyAttempts = refusal { try await recordPasskey(visit) }
      throw refusal
    }
    guard let account else {
      try await recordPasskey(visit)
      return self.form(
        visit, next: form["next"], fault: visit.texts[.signInPasskeyWrong], status: .unauthorized)
    }
    return try await started(account, "passkey", next: form["next"], visit)
  }

  private func recordPasskey(_ visit: Visit) async throws {
    try await refusals.record(
      RefusedSignIns.Refusal(
        action: .signInFailed, account: "", network: visit.context.networkName, isPasskey: true))
  }

  /// The account whose passkey has signed the challenge; nil if none has.
  private func account(of form: Form, _ visit: Visit) async throws -> Account? {
    guard let ceremony = PasskeyCeremony(origin: visit.origin, limits: .console),
      let id = form.bytes("id"), let clientData = form.bytes("client-data"),
      let authenticatorData = form.bytes("authenticator-data"),
      let signature = form.bytes("signature"), let handle = form.bytes("user-handle"),
      let (passkey, account) = try await passkeys.passkey(id: id, handle: handle)
    else { return nil }
    let assertion = PasskeyCeremony.Assertion(
      credentialID: id, clientData: clientData, authenticatorData: authenticatorData,
      signature: signature, userHandle: handle)
    let now = clock.now.unixSecond
    var challenge: PasskeyChallenges.Challenge?
    // All refused sign-ins get the same response.
    guard
      let used = try? ceremony.credential(
        passkey.credential, after: assertion,
        accepts: {
          challenge = challenges.checked($0, for: Self.purpose, at: now)
          return challenge != nil
        }), let challenge, try await passkeys.update(used, with: challenge)
    else { return nil }
    return account
  }

  // MARK: - Sessions

  private func started(
    _ account: Account, _ method: String, next: String, _ visit: Visit
  ) async throws -> Response {
    let session = try await sessions.start(for: account, with: method)
    return PageRenderer.redirection(
      to: Self.local(next), cookie: pages.cookie(for: visit.context).header(session))
  }

  private func signOut(_ visit: Visit, _ form: Form) async throws -> Response {
    if let session = visit.session { try await sessions.end(session) }
    var visit = visit
    visit.session = nil
    var response = pages.renderer.response(
      Page(
        visit.texts[.signedOutTitle], .message,
        [
          "title": visit.texts[.signedOutTitle], "text": visit.texts[.signedOutText],
          "signIn": true,
        ]), for: visit)
    response.headers[.setCookie] = pages.cookie(for: visit.context).removal
    return response
  }

  private func chooseLanguage(_ visit: Visit) throws -> Response {
    guard let language = ConsoleLanguage(rawValue: visit.parameter("language")) else {
      throw PageRefusal.notFound
    }
    return PageRenderer.redirection(
      to: Self.local(visit.query("next") ?? "/"),
      cookie: "\(PageRouter.languageCookie)=\(language.rawValue); Path=/; SameSite=Strict;"
        + " Max-Age=31536000")
  }

  /// A path of this console. With two slashes at its start it would name another machine.
  private static func local(_ path: String) -> String {
    let isPlain = path.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F }
    return path.hasPrefix("/") && !path.hasPrefix("//") && !path.contains("\\") && isPlain
      ? path : "/"
  }
}

extension PasskeyLimits {
  /// The limits of the console.
  static let console = PasskeyLimits(
    credentialBytesMax: ConsoleLimit.credentialBytesMax, cborDepthMax: ConsoleLimit.cborDepthMax,
    cborItemsMax: ConsoleLimit.cborItemsMax)
}

/// The template of the sign-in.
enum SignInTemplates {
  static let signIn = """
    <div class="narrow">
    <h1>{{t.signInTitle}}</h1>
    <p class="lead">{{t.signInLead}}</p>
    {{#fault}}<p class="fault" role="alert" id="fault">{{fault}}</p>{{/fault}}
    {{#notice}}<p class="notice" role="status" id="notice">{{notice}}</p>{{/notice}}
    <form method="post" action="/sign-in" class="card">
    <input type="hidden" name="next" value="{{next}}">
    <label for="name">{{t.signInName}}</label>
    <input id="name" name="name" type="text" autocomplete="username webauthn" autocapitalize="none" spellcheck="false"\
     required value="{{name}}">
    <label for="password">{{t.signInPassword}}</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required>
    <label for="code">{{t.signInCode}}</label>
    <input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" required class="code">
    <button id="sign-in" class="primary">{{t.signInButton}}</button>
    </form>
    {{#passkey}}
    <form method="post" action="/sign-in/passkey" class="passkey" hidden data-passkey="get"\
     data-challenge="{{challenge}}" data-host="{{host}}">
    <p class="or">{{t.signInOr}}</p>
    <input type="hidden" name="next" value="{{next}}">
    <input type="hidden" name="id"><input type="hidden" name="client-data">
    <input type="hidden" name="authenticator-data"><input type="hidden" name="signature">
    <input type="hidden" name="user-handle">
    <button id="sign-in-passkey">{{t.signInPasskey}}</button>
    </form>
    <script src="/passkey.js" defer></script>
    {{/passkey}}
    <p class="help">{{t.signInHelp}}</p>
    </div>
    """
}
