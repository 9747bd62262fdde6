// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import KeyServerAPI
import QuietHTTP
import World

/// The instructions to phones: pause, resume, and the withdrawal of key files.
struct PhonePages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let actions: AuditedActions
  let clock: any WallClock

  private static let hours = 1...720

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .operatePhones)
    pages.get(router, "/phones", access) { try await show($0) }
    pages.post(router, "/phones/pause", access, pause)
    pages.post(router, "/phones/resume", access) { visit, _ in
      try await perform(visit, .resumed) { () throws(AuthorityFailure) in
        try await authority.resume()
      }
    }
    pages.post(router, "/phones/withdraw", access) { visit, form in
      try await withFile(visit, form, .withdrawn) { file throws(AuthorityFailure) in
        try await authority.withdraw(file)
      }
    }
    pages.post(router, "/phones/restore", access) { visit, form in
      try await withFile(visit, form, .restored) { file throws(AuthorityFailure) in
        try await authority.restore(file)
      }
    }
  }

  private func show(_ visit: Visit, fault: String? = nil) async throws -> Response {
    let texts = visit.texts
    let instructions = try await authority.instructions()
    let pause = instructions.pause
    let isPaused = pause.map { $0.until.map { $0 > clock.now.unixSecond } ?? true } ?? false
    let state =
      !isPaused
      ? texts[.phonesRunning]
      : pause?.until.map { texts[.phonesPausedUntil, visit.time($0) + " UTC"] }
        ?? texts[.phonesPaused]
    var values: [String: Any] = [
      "version": texts[
        .phonesVersion, "\(instructions.version)", visit.time(instructions.expires) + " UTC"],
      "pause": state, "isPaused": isPaused, "hasWithdrawn": !instructions.withdrawn.isEmpty,
      "withdrawn": instructions.withdrawn.map { ["hash": "\($0)"] },
    ]
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(
        texts[.phonesTitle], .phones, values, status: fault == nil ? .ok : .unprocessableContent),
      for: visit)
  }

  private func pause(_ visit: Visit, _ form: Form) async throws -> Response {
    var until: Date?
    if !form["hours"].isEmpty {
      guard let hours = Int(form["hours"]), Self.hours.contains(hours) else {
        return try await show(visit, fault: visit.texts[.phonesBadHours])
      }
      until = clock.now.addingTimeInterval(TimeInterval(hours) * 3_600)
    }
    let detail = until.map { "until \($0.unixSecond)" } ?? "until resumed"
    return try await perform(visit, .paused, detail: detail) { () throws(AuthorityFailure) in
      try await authority.pause(until: until)
    }
  }

  private func withFile(
    _ visit: Visit, _ form: Form, _ action: AuditAction,
    _ work: (KeyFileHash) async throws(AuthorityFailure) -> Void
  ) async throws -> Response {
    guard let file = KeyFileHash(hex: form["hash"]) else {
      return try await show(visit, fault: visit.texts[.phonesBadHash])
    }
    return try await perform(visit, action, "\(file)") { () throws(AuthorityFailure) in
      try await work(file)
    }
  }

  private func perform(
    _ visit: Visit, _ action: AuditAction, _ subject: String = "", detail: String = "",
    _ work: () async throws(AuthorityFailure) -> Void
  ) async throws -> Response {
    try await actions.perform(
      AuditEvent(visit.account.name, action, subject, detail: detail), work)
    return PageRenderer.redirection(to: "/phones")
  }
}

/// The template of the instructions to phones.
enum PhoneTemplates {
  static let phones = """
    <h1>{{t.phonesTitle}}</h1>
    <p class="lead">{{t.phonesLead}}</p>
    <p>{{version}}</p>
    \(LayoutTemplate.notices)
    <section class="card" aria-labelledby="pause-title">
    <h2 id="pause-title">{{t.phonesPause}}</h2>
    <p role="status" id="pause-state"><strong>{{pause}}</strong></p>
    <p class="help">{{t.phonesPauseHelp}}</p>
    {{#isPaused}}
    <form method="post" action="/phones/resume">\(LayoutTemplate.token)
    <button id="resume" class="primary">{{t.phonesResumeButton}}</button></form>
    {{/isPaused}}
    {{^isPaused}}
    <form method="post" action="/phones/pause">\(LayoutTemplate.token)
    <label for="hours">{{t.phonesPauseHours}}</label>
    <input id="hours" name="hours" type="number" min="1" max="720" class="short">
    <button id="pause" class="danger">{{t.phonesPauseButton}}</button></form>
    {{/isPaused}}
    </section>
    <section class="card" aria-labelledby="withdraw-title">
    <h2 id="withdraw-title">{{t.phonesWithdraw}}</h2>
    <p class="help">{{t.phonesWithdrawHelp}}</p>
    <form method="post" action="/phones/withdraw">\(LayoutTemplate.token)
    <label for="hash">{{t.phonesHash}}</label>
    <input id="hash" name="hash" type="text" required spellcheck="false" autocomplete="off" class="code">
    <button id="withdraw" class="danger">{{t.phonesWithdrawButton}}</button></form>
    {{#hasWithdrawn}}
    \(LayoutTemplate.wide("withdrawn-caption"))
    <table id="withdrawn"><caption id="withdrawn-caption">{{t.phonesWithdrawnCaption}}</caption>
    <thead><tr><th scope="col">SHA-256</th><th scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#withdrawn}}
    <tr><th scope="row"><code>{{hash}}</code></th><td>
    <form method="post" action="/phones/restore">\(LayoutTemplate.token)
    <input type="hidden" name="hash" value="{{hash}}">
    <button class="quiet" aria-label="{{t.phonesRestore}}: {{hash}}">{{t.phonesRestore}}</button></form>
    </td></tr>
    {{/withdrawn}}
    </tbody></table></div>
    {{/hasWithdrawn}}
    </section>
    """
}
