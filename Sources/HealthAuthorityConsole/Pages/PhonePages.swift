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
