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
  let changes: ChangePages
  let clock: any WallClock

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .operatePhones)
    pages.get(router, "/phones", access) { try await show($0) }
    pages.post(router, "/phones/pause", access, pause)
    pages.post(router, "/phones/resume", access) { visit, _ in try await ask(.resume, visit) }
    pages.post(router, "/phones/withdraw", access) { visit, form in
      try await ask(.withdrawFile(file: try Self.file(form)), visit)
    }
    pages.post(router, "/phones/restore", access) { visit, form in
      try await ask(.restoreFile(file: try Self.file(form)), visit)
    }
  }

  private static func file(_ form: Form) throws(PageRefusal) -> KeyFileHash {
    guard let file = KeyFileHash(hex: form["hash"]) else { throw .malformed }
    return file
  }

  private func show(_ visit: Visit, fault: String? = nil) async throws -> Response {
    let texts = visit.texts
    let instructions = try await authority.instructions()
    // Without the exports, withdrawn files are shown without their names.
    let exports = (try? await authority.exports()) ?? []
    let pause = instructions.pause
    let isPaused = pause.map { $0.until.map { $0 > clock.now.unixSecond } ?? true } ?? false
    let state =
      !isPaused
      ? texts[.phonesRunning]
      : pause?.until.map { texts[.phonesPausedUntil, texts.time($0)] }
        ?? texts[.phonesPaused]
    var values: [String: Any] = [
      "version": texts[
        .phonesVersion, "\(instructions.version)", texts.time(instructions.expires)],
      "pause": state, "isPaused": isPaused, "hasWithdrawn": !instructions.withdrawn.isEmpty,
      "withdrawn": withdrawn(instructions.withdrawn, exports, texts),
    ]
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(
        texts[.phonesTitle], .phones, values, status: fault == nil ? .ok : .unprocessableContent),
      for: visit)
  }

  /// The withdrawn files, with their names if the exports still have them.
  private func withdrawn(
    _ hashes: [KeyFileHash], _ exports: [ExportFacts], _ texts: Texts
  ) -> [[String: String]] {
    let names = exports.flatMap { export in
      export.files.map { file in
        let root = export.root.isEmpty ? texts[.exportsFirst] : export.root
        return (file.hash, "\(texts[.exportsName, root, export.region]): \(file.name)")
      }
    }
    let known = Dictionary(names) { first, _ in first }
    return hashes.map { ["hash": "\($0)", "name": known[$0] ?? texts[.phonesNotListed]] }
  }

  private func pause(_ visit: Visit, _ form: Form) async throws -> Response {
    guard !form["hours"].isEmpty else { return try await ask(.pause(hours: nil), visit) }
    guard let hours = Int(form["hours"]) else {
      return try await show(visit, fault: visit.texts[.phonesBadHours])
    }
    return try await ask(.pause(hours: hours), visit)
  }

  /// The page with the effect of a change, or this page with the reason why it is not possible.
  private func ask(_ change: ConsoleChange, _ visit: Visit) async throws -> Response {
    do { return try await changes.ask(change, visit) } catch AuthorityFailure.refused(let message) {
      return try await show(visit, fault: visit.texts.sentence(message))
    }
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
    <form method="post" action="/phones/pause">\(LayoutTemplate.token)
    <label for="hours">{{t.phonesPauseHours}}</label>
    <input id="hours" name="hours" type="number" min="1" max="720" class="short">
    <button id="pause" class="danger">{{t.phonesPauseButton}}</button></form>
    </section>
    <section class="card" aria-labelledby="withdraw-title">
    <h2 id="withdraw-title">{{t.phonesWithdraw}}</h2>
    <p class="help">{{t.phonesWithdrawHelp}}</p>
    <p><a class="button" id="choose-file" href="/exports">{{t.phonesChooseFile}}</a></p>
    {{#hasWithdrawn}}
    \(LayoutTemplate.wide("withdrawn-caption"))
    <table id="withdrawn"><caption id="withdrawn-caption">{{t.phonesWithdrawnCaption}}</caption>
    <thead><tr><th scope="col">{{t.exportsFile}}</th><th scope="col">SHA-256</th><th scope="col">{{t.actions}}</th>
    </tr></thead>
    <tbody>
    {{#withdrawn}}
    <tr><th scope="row">{{name}}</th><td><code>{{hash}}</code></td><td>
    <form method="post" action="/phones/restore">\(LayoutTemplate.token)
    <input type="hidden" name="hash" value="{{hash}}">
    <button class="quiet" aria-label="{{t.phonesRestore}}: {{name}} {{hash}}">{{t.phonesRestore}}</button></form>
    </td></tr>
    {{/withdrawn}}
    </tbody></table></div>
    {{/hasWithdrawn}}
    </section>
    """
}
